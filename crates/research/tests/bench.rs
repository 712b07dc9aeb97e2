//! The cost of a response chain beside the skin's.

/// Prints both times; the bound is loose, because other tests share the machine.
#[test]
fn a_full_chain_costs_less_than_the_skin() {
    let numbers = dermis_research::bench::find("response").unwrap().run();
    for (name, value) in &numbers {
        println!("{name} = {value:.2}");
    }
    assert!(numbers["chain_over_springs_ratio"] < 1.0, "{numbers:?}");
}
