fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let full = only.iter().any(|a| a == "--full");
    for e in &dermis::experiments::ALL {
        if !only.iter().any(|o| o == e.name || o == "all") {
            continue;
        }
        let t = std::time::Instant::now();
        match e.run(&dermis::experiments::Options { full }, &mut |_| true) {
            Ok(o) => {
                println!("{} passed={} {:.2}s", o.name, o.passed(), t.elapsed().as_secs_f64());
                for v in &o.verdicts {
                    println!(
                        "   {} {} = {:?} paper {:?}",
                        if v.passed { "ok  " } else { "FAIL" },
                        v.expectation.metric,
                        v.ours,
                        v.expectation.paper
                    );
                }
                println!("   {:?}", o.metrics);
                o.files.commit(std::path::Path::new("/tmp/repro")).unwrap();
            }
            Err(err) => println!("{}: ERROR {err}", e.name),
        }
    }
}
