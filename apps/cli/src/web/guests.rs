//! Connections that have not shown the key of the server: few, and the newest win.
//!
//! A flood of connections therefore cannot keep out the page of the owner: its request is read within a second, and then the
//! connection is no guest any more.

use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of guests.
const MAX_GUESTS: usize = 64;

/// The open connections of guests, oldest first.
#[derive(Default)]
pub struct Guests {
    open: Mutex<(u64, Vec<Guest>)>,
}

struct Guest {
    id: u64,
    address: IpAddr,
    stream: TcpStream,
}

impl Guests {
    /// Adds a connection and returns its number. Beyond the limit, closes the oldest one of the address that has the most.
    pub fn enter(&self, stream: &TcpStream) -> std::io::Result<u64> {
        let (address, stream) = (stream.peer_addr()?.ip(), stream.try_clone()?);
        let mut open = self.lock();
        open.0 += 1;
        let id = open.0;
        open.1.push(Guest { id, address, stream });
        if open.1.len() > MAX_GUESTS {
            let count = |of: &Guest| open.1.iter().filter(|guest| guest.address == of.address).count();
            let most = open.1.iter().map(count).max().unwrap_or(0);
            if let Some(oldest) = open.1.iter().position(|guest| count(guest) == most) {
                // Its thread reads the end of the stream and ends.
                let _ = open.1.remove(oldest).stream.shutdown(Shutdown::Both);
            }
        }
        Ok(id)
    }

    /// Removes a connection that has ended or shown the key. False if it was closed for another one.
    pub fn leave(&self, id: u64) -> bool {
        let mut open = self.lock();
        let before = open.1.len();
        open.1.retain(|guest| guest.id != id);
        open.1.len() < before
    }

    fn lock(&self) -> MutexGuard<'_, (u64, Vec<Guest>)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
