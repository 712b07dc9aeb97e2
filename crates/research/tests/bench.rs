//! Compares the time of a response chain with that of the skin.

/// Prints both times; the bound is loose, because other tests run on the same machine.
#[test]
fn a_full_chain_costs_less_than_the_skin() {
    let numbers = dermis_research::bench::find("response").unwrap().run();
    for (name, value) in &numbers {
        println!("{name} = {value:.2}");
    }
    assert!(numbers["chain_over_springs_ratio"] < 1.0, "{numbers:?}");
}
