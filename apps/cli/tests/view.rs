//! The server of `dermis view` and `dermis run --view`, with valid and invalid requests.

use crate::common::{SCENE, write};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
    /// The path of the page, with the key of a run.
    path: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the program and reads its port from the first line that names one.
fn start(folder: &Path, arguments: &[&str], from_stderr: bool) -> Server {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dermis"))
        .current_dir(folder)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    if from_stderr {
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    } else {
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    }
    let address = line.split("http://127.0.0.1:").nth(1).unwrap().split_whitespace().next().unwrap();
    let (port, path) = address.split_once('/').unwrap();
    Server { child, port: port.parse().unwrap(), path: format!("/{path}") }
}

fn view() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "dermis.wasm.gz", b"\x1f\x8b");
    write(folder.path(), "secret.txt", "secret");
    let server = start(folder.path(), &["view", "--no-open", "--dir", "."], false);
    (folder, server)
}

/// Sends bytes and returns the whole response.
fn ask(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // A server that refuses early may close before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(port: u16, path: &str, host: &str) -> String {
    ask(port, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
}

#[test]
fn the_page_and_the_skins_are_handed_out_with_their_types() {
    let (_folder, server) = view();
    let own = format!("127.0.0.1:{}", server.port);
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/live.html", "text/html; charset=utf-8"),
        ("/main.js", "text/javascript; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
        ("/dermis.wasm.gz", "application/gzip"),
    ] {
        let answer = get(server.port, path, &own);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {answer}");
        assert!(answer.contains(&format!("Content-Type: {kind}\r\n")), "{path}: {answer}");
        assert!(answer.contains("X-Content-Type-Options: nosniff\r\n") && answer.contains("default-src 'self'"));
    }
    let head = ask(server.port, &format!("HEAD / HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port));
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn other_hosts_are_refused() {
    let (_folder, server) = view();
    let other_port = format!("127.0.0.1:{}", server.port ^ 1);
    let subdomain = format!("127.0.0.1:{}.evil.example", server.port);
    for host in ["evil.example", "localhost", "127.0.0.1", "0.0.0.0", "", &other_port, &subdomain] {
        let answer = get(server.port, "/", host);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{host}: {answer}");
        assert!(!answer.contains("<!doctype"), "{host}: {answer}");
    }
    let none = ask(server.port, "GET / HTTP/1.1\r\n\r\n");
    assert!(none.starts_with("HTTP/1.1 400 "), "{none}");
    let own = format!("127.0.0.1:{}", server.port);
    let two = ask(server.port, &format!("GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n\r\n"));
    assert!(two.starts_with("HTTP/1.1 400 "), "{two}");
}

#[test]
fn no_path_leads_out_of_the_page() {
    let (_folder, server) = view();
    let own = format!("127.0.0.1:{}", server.port);
    for path in [
        "/secret.txt",
        "/../secret.txt",
        "/./secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/..\\secret.txt",
        "//etc/passwd",
        "/../../../../../../../../etc/passwd",
        "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/dermis.wasm.gz/../secret.txt",
        "/main.js\0.txt",
        "/events",
    ] {
        let answer = get(server.port, path, &own);
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path}: {answer}");
        assert!(!answer.contains("secret\n") && !answer.contains("root:"), "{path}: {answer}");
    }
}

#[test]
fn what_is_no_request_is_refused_and_the_server_goes_on() {
    let (_folder, server) = view();
    let own = format!("127.0.0.1:{}", server.port);
    let status = |request: &str| ask(server.port, request).lines().next().unwrap_or_default().to_owned();
    assert_eq!(status(&format!("POST / HTTP/1.1\r\nHost: {own}\r\n\r\n")), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(status("\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    assert_eq!(status("\u{1f980}\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    // Longer than the limit: refused, or closed while the request is being sent.
    let long = ask(server.port, &format!("GET / HTTP/1.1\r\nHost: {own}\r\nX: {}\r\n\r\n", "x".repeat(100_000)));
    assert!(long.is_empty() || long.starts_with("HTTP/1.1 431 "), "{long}");
    assert!(get(server.port, "/", &own).starts_with("HTTP/1.1 200 OK"));
}

/// The server does not answer on any address of this machine other than the loopback address.
#[test]
fn it_listens_on_the_loopback_address_only() {
    let (_folder, server) = view();
    let listens = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = format!(":{:04X}", server.port);
    let lines: Vec<&str> = listens.lines().filter(|line| line.contains(&port) && line.contains(" 0A ")).collect();
    if cfg!(target_os = "linux") {
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains(&format!("0100007F{port} 00000000:0000")), "{lines:?}");
    }
    let on_six = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    assert!(!on_six.lines().any(|line| line.contains(&port) && line.contains(" 0A ")), "{on_six}");
}

#[test]
fn a_folder_without_skins_is_said_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refusal(folder.path(), &["view", "--no-open", "--dir", "."]).contains("dermis.wasm"));
}

/// In any folder, if the page was built before the program; otherwise the program says how to build it.
#[test]
fn a_program_alone_shows_the_page() {
    let folder = tempfile::tempdir().unwrap();
    if option_env!("DERMIS_PAGE").is_none() {
        refusal(folder.path(), &["view", "--no-open"]);
        return;
    }
    let server = start(folder.path(), &["view", "--no-open"], false);
    let own = format!("127.0.0.1:{}", server.port);
    let module = get(server.port, "/dermis.wasm.gz", &own);
    let length = module.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
    assert!(length.parse::<usize>().unwrap() > 100_000, "{length}");
}

/// The one sentence that the program says before it fails.
fn refusal(folder: &Path, arguments: &[&str]) -> String {
    let output = crate::common::dermis(folder, &arguments.iter().map(|word| word.to_string()).collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.lines().count() == 1, "{said}");
    assert!(said.contains("cargo xtask playground"), "{said}");
    said
}

/// The scene is sent first, then the past, then frames with the pad's forces; a run without a page still ends.
#[test]
fn a_run_is_streamed() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "scene.toml", SCENE);
    let mut server = start(folder.path(), &["run", "scene.toml", "--out", "out", "--view", "--no-open"], true);
    let own = format!("127.0.0.1:{}", server.port);
    let events = server.path.replace("live.html", "events");
    let refused = get(server.port, &events, "evil.example");
    assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    // Until the end of the run closes the connection.
    let message = get(server.port, &events, &own);
    assert!(message.contains("Content-Type: text/event-stream\r\n"), "{message}");
    let names: Vec<&str> = message.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!((names[0], names[1], names[names.len() - 1]), ("scene", "past", "end"), "{names:?}");
    assert!(names.iter().filter(|name| **name == "frame").count() >= 1, "{names:?}");
    let frame = message.lines().rfind(|line| line.starts_with("data: {\"bodies\"")).unwrap();
    let frame: serde_json::Value = serde_json::from_str(&frame["data: ".len()..]).unwrap();
    assert_eq!(frame["sensors"][0]["values"].as_array().unwrap().len(), 48 * 48);
    assert!(server.child.wait().unwrap().success());
    assert!(folder.path().join("out/summary.json").exists());
}

/// A run that lasts until the test ends.
fn long_run(folder: &Path) -> Server {
    write(folder, "scene.toml", SCENE.replace("duration = \"20 ms\"", "duration = \"60 s\""));
    start(folder, &["run", "scene.toml", "--record", "run.mcap", "--view", "--no-open"], true)
}

/// Other users of the machine can connect to the port, and do not know the address.
#[test]
fn only_those_who_know_the_address_see_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let server = long_run(folder.path());
    let own = format!("127.0.0.1:{}", server.port);
    let key = server.path.split('/').nth(1).unwrap();
    assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", server.path);
    assert!(get(server.port, &server.path, &own).starts_with("HTTP/1.1 200 OK"));
    let other = key.replace(|c: char| c == key.chars().next().unwrap(), if key.starts_with('0') { "1" } else { "0" });
    for path in ["/", "/live.html", "/events", "//events", &format!("/{other}/events"), &format!("/{key}"), "/live.js"]
    {
        let answer = get(server.port, path, &own);
        assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains("event:"), "{path}: {answer}");
    }
    let another = long_run(tempfile::tempdir().unwrap().path());
    assert_ne!(another.path, server.path);
}

/// 300 connections that send nothing, and their replacements all the time: the page of the owner still answers quickly.
#[test]
fn a_flood_does_not_stop_the_page_of_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    let server = long_run(folder.path());
    let (port, own) = (server.port, format!("127.0.0.1:{}", server.port));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut open = std::collections::VecDeque::new();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                    open.push_back(stream);
                }
                if open.len() > 300 {
                    open.pop_front();
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        std::thread::sleep(Duration::from_millis(500));
        let start = std::time::Instant::now();
        for _ in 0..20 {
            // A browser also tries again if a connection is closed without an answer.
            let answered = (0..5).any(|_| get(port, &server.path, &own).starts_with("HTTP/1.1 200 OK"));
            assert!(answered);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    });
}

/// A connection that sends its request slowly is closed.
#[test]
fn a_slow_request_times_out() {
    let (_folder, server) = view();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let start = std::time::Instant::now();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408 ") && start.elapsed() < Duration::from_secs(15), "{answer}");
}
