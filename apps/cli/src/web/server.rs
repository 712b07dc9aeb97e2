//! Serves the page on the loopback address.

use super::files::{ASSETS, SKINS};
use super::guests::Guests;
use super::http::{self, Refusal, Request};
use super::hub::Hub;
use anyhow::Context;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Maximum number of simultaneous connections that have shown the key.
const MAX_CONNECTIONS: usize = 64;
/// Pause after a connection could not be accepted, such as for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
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
    /// First part of every path of a run: other users of this machine can connect, and do not know it.
    key: Option<String>,
    guests: Guests,
    connections: AtomicUsize,
}

/// 128 random bits of the operating system, in hexadecimal digits.
fn random_key() -> String {
    // SipHash of two numbers under a random key of 128 bits.
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0_u8), random.hash_one(1_u8))
}

/// Compares without telling by its time how many characters agree.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

impl Server {
    /// Listens on a port of 127.0.0.1; 0 selects any free port. With a hub, it also streams a run, to those who know the
    /// key in its address.
    pub fn bind(port: u16, skins: Option<Vec<u8>>, hub: Option<Arc<Hub>>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("port {port} of 127.0.0.1 is not available; give another with --port"))?;
        let port = listener.local_addr().context("the port that was given is not known")?.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let key = hub.as_ref().map(|_| random_key());
        let (guests, connections) = (Guests::default(), AtomicUsize::new(0));
        Ok(Self { listener, port, site: Arc::new(Site { hosts, skins, hub, key, guests, connections }) })
    }

    /// The address of a page.
    pub fn url(&self, page: &str) -> String {
        let key = self.site.key.as_ref().map_or_else(String::new, |key| format!("{key}/"));
        format!("http://127.0.0.1:{}/{key}{page}", self.port)
    }

    /// Serves until the program ends.
    pub fn serve(self) {
        for stream in self.listener.incoming() {
            let entered = stream.and_then(|stream| Ok((self.site.guests.enter(&stream)?, stream)));
            let Ok((guest, stream)) = entered else {
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            };
            let site = Arc::clone(&self.site);
            let begun = std::thread::Builder::new().name("page".into()).spawn(move || {
                // A closed page is not an error.
                let _ = site.connection(stream, guest);
                site.guests.leave(guest);
            });
            if begun.is_err() {
                self.site.guests.leave(guest);
            }
        }
    }
}

impl Site {
    fn connection(&self, mut stream: TcpStream, guest: u64) -> io::Result<()> {
        let mut request = match http::read(&mut stream) {
            Ok(request) => request,
            Err(refusal) => return refuse(&mut stream, &refusal, false),
        };
        // Protects against DNS rebinding: a foreign page sends its own host name.
        if !self.hosts.contains(&request.host.to_ascii_lowercase()) {
            return refuse(&mut stream, &Refusal("403 Forbidden", "the Host header does not match this server"), false);
        }
        let Some(key) = &self.key else { return self.file(&mut stream, &request) };
        let (shown, path) = request.path[1..].split_once('/').unwrap_or_default();
        if !is_same(shown, key) {
            let reason = "the address must be the one that `dermis run --view` has printed";
            return refuse(&mut stream, &Refusal("403 Forbidden", reason), request.head_only);
        }
        request.path = format!("/{path}");
        // From here on the connection is the owner's; one that was closed for another guest has ended.
        if !self.guests.leave(guest) {
            return Ok(());
        }
        let is_free = self.connections.fetch_add(1, Ordering::Relaxed) < MAX_CONNECTIONS;
        let outcome = match (&self.hub, request.path.as_str()) {
            _ if !is_free => {
                let full = Refusal("503 Service Unavailable", "too many pages watch this run");
                refuse(&mut stream, &full, request.head_only)
            }
            (Some(hub), "/events") => events(hub, stream),
            _ => self.file(&mut stream, &request),
        };
        self.connections.fetch_sub(1, Ordering::Relaxed);
        outcome
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
