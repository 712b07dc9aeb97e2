//! Serves the page on the loopback address.

use super::files::{ASSETS, SKINS};
use super::http::{self, Refusal, Request};
use super::hub::Hub;
use anyhow::Context;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Maximum number of simultaneous connections.
const MAX_CONNECTIONS: usize = 64;
/// Time between keep-alive messages of an event stream, which detect closed pages.
const KEEP_ALIVE: Duration = Duration::from_secs(2);

/// A server on the loopback address.
pub struct Server {
    listener: TcpListener,
    port: u16,
    site: Arc<Site>,
}

/// The served content.
struct Site {
    hosts: [String; 2],
    /// The module, if it is not the embedded one.
    skins: Option<Vec<u8>>,
    hub: Option<Arc<Hub>>,
    connections: AtomicUsize,
}

impl Server {
    /// Listens on a port of 127.0.0.1; 0 selects any free port. With a hub, it also streams a run.
    pub fn bind(port: u16, skins: Option<Vec<u8>>, hub: Option<Arc<Hub>>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("port {port} of 127.0.0.1 is not available; give another with --port"))?;
        let port = listener.local_addr().context("the port that was given is not known")?.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Ok(Self { listener, port, site: Arc::new(Site { hosts, skins, hub, connections: AtomicUsize::new(0) }) })
    }

    /// The address of a page.
    pub fn url(&self, page: &str) -> String {
        format!("http://127.0.0.1:{}/{page}", self.port)
    }

    /// Serves until the program ends.
    pub fn serve(self) {
        for stream in self.listener.incoming() {
            // Ignore connections that failed.
            let Ok(stream) = stream else { continue };
            let site = Arc::clone(&self.site);
            if site.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                site.connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let begun = std::thread::Builder::new().name("page".into()).spawn({
                let site = Arc::clone(&site);
                move || {
                    // A closed page is not an error.
                    let _ = site.connection(stream);
                    site.connections.fetch_sub(1, Ordering::Relaxed);
                }
            });
            if begun.is_err() {
                site.connections.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

impl Site {
    fn connection(&self, mut stream: TcpStream) -> io::Result<()> {
        let request = match http::read(&mut stream) {
            Ok(request) => request,
            Err(refusal) => return refuse(&mut stream, &refusal, false),
        };
        // Protects against DNS rebinding: a foreign page sends its own host name.
        if !self.hosts.contains(&request.host.to_ascii_lowercase()) {
            return refuse(&mut stream, &Refusal("403 Forbidden", "the Host header does not match this server"), false);
        }
        if let (Some(hub), "/events") = (&self.hub, request.path.as_str()) {
            return events(hub, stream);
        }
        self.file(&mut stream, &request)
    }

    /// Serves files by name from a fixed list; request paths never reach the file system.
    fn file(&self, stream: &mut TcpStream, request: &Request) -> io::Result<()> {
        let name = match request.path.as_str() {
            "/" => "index.html",
            path => &path[1..],
        };
        if let (SKINS, Some(skins)) = (name, &self.skins) {
            return http::answer(stream, "200 OK", "application/gzip", skins, request.head_only);
        }
        if let Some((_, kind, content)) = ASSETS.iter().find(|(known, ..)| *known == name) {
            return http::answer(stream, "200 OK", kind, content, request.head_only);
        }
        refuse(stream, &Refusal("404 Not Found", "no such file"), request.head_only)
    }
}

fn refuse(stream: &mut TcpStream, Refusal(status, reason): &Refusal, head_only: bool) -> io::Result<()> {
    http::answer(stream, status, "text/plain; charset=utf-8", format!("{reason}\n").as_bytes(), head_only)
}

/// Streams past and future events until the page disconnects.
fn events(hub: &Hub, mut stream: TcpStream) -> io::Result<()> {
    http::begin_events(&mut stream)?;
    let viewer = hub.join();
    loop {
        match viewer.next(KEEP_ALIVE) {
            Some(event) => stream.write_all(event.as_bytes())?,
            None => stream.write_all(b": keep-alive\n\n")?,
        }
        stream.flush()?;
    }
}
