//! Compares the time of a response chain with that of the skin.

/// The least time of each in up to five rounds: other tests run on the same machine, and what they take away is no time
/// of the chain.
#[test]
fn a_full_chain_costs_less_than_the_skin() {
    let bench = dermis_research::bench::find("response").unwrap();
    let (mut chain, mut springs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let numbers = bench.run();
        for (name, value) in &numbers {
            println!("{name} = {value:.2}");
        }
        chain = chain.min(numbers["ns_per_step_full_chain_84_taxels"]);
        springs = springs.min(numbers["ns_per_step_springs_84_texels_10k_triangles"]);
        if chain < springs {
            return;
        }
    }
    panic!("{chain} ns for the chain, {springs} ns for the skin");
}
