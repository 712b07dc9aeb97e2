//! Requests of the page and of its server.

use super::text;
use crate::limits::skip_beyond;
use dermis_playground::{Engine, Request};
use std::cell::RefCell;
use std::path::Path;

thread_local! {
    static ENGINE: RefCell<Engine> = RefCell::default();
}

/// A request and, after a line end, the bytes of a dropped file.
pub fn request(bytes: &[u8], _: &Path) -> Result<(), String> {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let question = text(&bytes[..end])?;
    let file = bytes.get(end + 1..).unwrap_or_default();
    serde_json::from_str::<Request>(question).map_err(|error| error.to_string())?;
    skip_beyond();
    let (answer, arrays) = ENGINE.with_borrow_mut(|engine| {
        // A press needs an object and a sensor.
        if !question.contains("sphere") {
            engine.answer(r#"{"do":"object","name":"sphere:radius=5mm"}"#, &[]);
        }
        engine.answer(question, file)
    });
    let said = answer.to_string();
    serde_json::from_str::<serde_json::Value>(&said).expect("the answer is JSON");
    let _ = arrays.bytes();
    match answer["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => Ok(()),
    }
}

pub fn http(bytes: &[u8], _: &Path) -> Result<(), String> {
    let request =
        dermis_cli::web::http::parse(&String::from_utf8_lossy(bytes)).map_err(|refusal| refusal.1.to_owned())?;
    assert!(request.path.starts_with('/') && !request.path.contains(['?', '#', ' ']), "{:?}", request.path);
    Ok(())
}
