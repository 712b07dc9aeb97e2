fn main() {
    for (k, v) in dermis::bench::ALL[0].run() {
        println!("{k} {v:.1}");
    }
}
