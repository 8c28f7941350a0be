#![allow(clippy::all, clippy::pedantic, clippy::disallowed_methods, missing_docs)]
use plaudit::{
    clock::Clock,
    db::{self, AccountId, Db},
    program::Program,
};
use std::sync::Arc;
#[global_allocator]
static A: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn rss() -> u64 {
    let s = std::fs::read_to_string("/proc/self/status").unwrap();
    s.lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .unwrap()
        .trim()
        .trim_end_matches("kB")
        .trim()
        .parse::<u64>()
        .unwrap()
}
fn main() {
    let url = std::env::args().nth(1).unwrap();
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    rt.block_on(async {
        let db = Db::open(&db::Settings::at(&url)).await.unwrap();
        let base: Arc<str> = Arc::from("https://a.example");
        let clock = Clock::system();
        let mut times = vec![];
        for _ in 0..40 {
            let t = std::time::Instant::now();
            let p = Program::load(&db, AccountId(1), &base, &clock).await.unwrap().unwrap();
            times.push(t.elapsed().as_micros());
            std::hint::black_box(&p);
        }
        times.sort();
        println!("load us min {} median {}", times[0], times[20]);
        let mut docs: Vec<(String, String)> = vec![];
        db.each("SELECT kind, doc FROM setup_records WHERE account = 1 ORDER BY kind, slug", &[], |row| {
            docs.push((row.text(0)?.to_owned(), row.text(1)?.to_owned()));
            Ok(())
        })
        .await
        .unwrap();
        println!("{} docs {} bytes", docs.len(), docs.iter().map(|d| d.1.len()).sum::<usize>());
        let mut best = [u128::MAX; 4];
        for _ in 0..40 {
            let t = std::time::Instant::now();
            let mut n = 0;
            db.each(
                "SELECT kind, deleted, revision, doc FROM setup_records WHERE account = $1 ORDER BY kind, slug",
                &[AccountId(1).into()],
                |row| {
                    n += row.text(3)?.len();
                    Ok(())
                },
            )
            .await
            .unwrap();
            best[0] = best[0].min(t.elapsed().as_micros());
            std::hint::black_box(n);
            let t = std::time::Instant::now();
            for d in &docs {
                std::hint::black_box(plaudit::http::json_body::parse_own(&d.1).unwrap());
            }
            best[1] = best[1].min(t.elapsed().as_micros());
            let ctx = {
                let p = Program::load(&db, AccountId(1), &base, &clock).await.unwrap().unwrap();
                p.context.clone()
            };
            let t = std::time::Instant::now();
            for d in &docs {
                if d.0 == "field" {
                    std::hint::black_box(
                        plaudit::program::store::parse::<plaudit::program::fields::Field>(&d.1, &ctx).unwrap(),
                    );
                }
            }
            best[2] = best[2].min(t.elapsed().as_micros());
        }
        println!("rows {} us, parse trees {} us, fields read {} us", best[0], best[1], best[2]);
        let a = rss();
        let mut v = vec![];
        for _ in 0..20 {
            v.push(Program::load(&db, AccountId(1), &base, &clock).await.unwrap().unwrap());
        }
        println!("kB each {}", (rss() - a) / 20);
    });
}
