//! A minimal HTTP/1.1 server side: one GET or HEAD request per connection, within size and time limits.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum size of a request head.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Time limit to receive a request head.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// Time limit of a blocked write.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// A parsed request.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// Whether it is a HEAD request.
    pub head_only: bool,
    /// The path, without the query.
    pub path: String,
    /// The `Host` header.
    pub host: String,
}

/// An error response: status and message.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub &'static str, pub &'static str);

const BAD: &str = "400 Bad Request";

/// Reads the head of a request; refuses empty, oversized and slow requests.
pub fn read(stream: &mut TcpStream) -> Result<Request, Refusal> {
    let start = Instant::now();
    let _ = stream.set_write_timeout(Some(WRITE_TIME));
    let mut head = Vec::new();
    let mut part = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > MAX_HEAD_BYTES {
            return Err(Refusal("431 Request Header Fields Too Large", "the head of the request is too long"));
        }
        let left = HEAD_TIME.saturating_sub(start.elapsed());
        let slow = Refusal("408 Request Timeout", "the request came too slowly");
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Err(slow);
        }
        match stream.read(&mut part) {
            Ok(0) => return Err(Refusal(BAD, "the request ended early")),
            Ok(count) => head.extend_from_slice(&part[..count]),
            Err(_) => return Err(slow),
        }
    }
    parse(&String::from_utf8_lossy(&head))
}

/// Parses a request head.
pub fn parse(head: &str) -> Result<Request, Refusal> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Refusal(BAD, "the request has no method, target and version"));
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(Refusal("505 HTTP Version Not Supported", "only HTTP/1.1 is supported"));
    }
    if !matches!(method, "GET" | "HEAD") {
        return Err(Refusal("405 Method Not Allowed", "only GET and HEAD are supported"));
    }
    let hosts: Vec<&str> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim())
        .collect();
    let [host] = hosts[..] else {
        return Err(Refusal(BAD, "the request must name one host"));
    };
    let path = target.split(['?', '#']).next().unwrap_or_default().to_owned();
    if !path.starts_with('/') {
        return Err(Refusal(BAD, "the target must be a path"));
    }
    Ok(Request { head_only: method == "HEAD", path, host: host.to_owned() })
}

/// Headers of every response: own resources only, no content sniffing, no framing.
const SAFE: &str = "Content-Security-Policy: default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data: blob:; \
frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\
X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n\
Cache-Control: no-store\r\nConnection: close\r\n";

/// Sends a response with a body.
pub fn answer(stream: &mut TcpStream, status: &str, kind: &str, body: &[u8], head_only: bool) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{SAFE}\r\n", body.len())?;
    if !head_only {
        stream.write_all(body)?;
    }
    stream.flush()
}

/// Starts a stream of server-sent events.
pub fn begin_events(stream: &mut TcpStream) -> io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{SAFE}\r\n")?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_request_is_parsed() {
        let request = parse("GET /main.js?v=1 HTTP/1.1\r\nHost: localhost:80\r\nAccept: */*\r\n\r\n").unwrap();
        assert_eq!(request, Request { head_only: false, path: "/main.js".into(), host: "localhost:80".into() });
        assert!(parse("HEAD / HTTP/1.1\r\nhost: a\r\n\r\n").unwrap().head_only);
    }

    #[test]
    fn everything_else_is_refused() {
        let status = |head: &str| parse(head).unwrap_err().0;
        assert_eq!(status("POST / HTTP/1.1\r\nHost: a\r\n\r\n"), "405 Method Not Allowed");
        assert_eq!(status("GET / HTTP/2\r\nHost: a\r\n\r\n"), "505 HTTP Version Not Supported");
        for head in ["", "GET /\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"] {
            assert!(parse(head).is_err(), "{head}");
        }
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), BAD);
    }
}
