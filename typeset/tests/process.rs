//! The process: what it answers over its pipes, and how it ends.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use typesetting::{Answer, Fault, Request};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(2);
/// What a document may take.
const MEMORY: u64 = 512 << 20;

struct Typesetter {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Option<Result<Vec<u8>, Fault>>>,
}

impl Typesetter {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_plaudit-typeset"))
            .env_clear()
            .args(["--memory-bytes", &MEMORY.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = channel();
        std::thread::spawn(move || while sender.send(answer(&mut output)).is_ok() {});
        Self { child, input, answers }
    }

    fn ask(&mut self, request: &Request) {
        typesetting::write(&mut self.input, &serde_json::to_vec(request).unwrap()).unwrap();
    }

    fn answer(&self) -> Result<Vec<u8>, Fault> {
        self.answers.recv_timeout(LONG).unwrap().expect("an answer")
    }

    /// What it says when it ends without an answer.
    fn end(mut self) -> String {
        assert!(self.answers.recv_timeout(LONG).unwrap().is_none(), "no answer");
        assert!(!self.child.wait().unwrap().success());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

fn answer(output: &mut ChildStdout) -> Option<Result<Vec<u8>, Fault>> {
    let answer = typesetting::read(output).ok()??;
    match serde_json::from_slice(&answer).unwrap() {
        Answer::Made => typesetting::read(output).ok()?.map(Ok),
        Answer::Fault(fault) => Some(Err(fault)),
    }
}

#[test]
fn documents_follow_each_other() {
    let mut typesetter = Typesetter::start();
    for (number, format) in [0, 1, 2].into_iter().zip(support::FORMATS) {
        typesetter.ask(&Request { format, ..support::request(&format!("Document {number}")) });
        assert!(typesetter.answer().is_ok(), "{format:?}");
        typesetter.ask(&support::request("\n #unknown"));
        assert_eq!(support::refused(typesetter.answer()).line, Some(2));
    }
    drop(typesetter.input);
    assert!(typesetter.child.wait().unwrap().success());
}

#[test]
fn files_and_pictures_follow_the_request() {
    let mut typesetter = Typesetter::start();
    let template = r#"#image("logo.png", alt: "Logo") #image(pictures.at("Token"), alt: "Picture") #read("text.txt")"#;
    let files = vec!["logo.png".to_owned(), "text.txt".to_owned()];
    typesetter.ask(&Request { files, pictures: vec!["Token".to_owned()], ..support::request(template) });
    for bytes in [support::png(4, 3), b"Text".to_vec(), support::jpeg(3, 4)] {
        typesetting::write(&mut typesetter.input, &bytes).unwrap();
    }
    assert!(typesetter.answer().unwrap().starts_with(b"%PDF"));
}

#[test]
fn a_loop_without_end_can_be_killed() {
    let mut typesetter = Typesetter::start();
    typesetter
        .ask(&support::request("#for one in range(100000) { for other in range(100000) { let sum = one + other } }"));
    let answer = typesetter.answers.recv_timeout(Duration::from_secs(3));
    assert_eq!(answer.map(|_| ()).unwrap_err(), RecvTimeoutError::Timeout);
    typesetter.child.kill().unwrap();
    assert!(typesetter.answers.recv_timeout(LONG).unwrap().is_none());
    typesetter.child.wait().unwrap();
}

#[test]
fn what_eats_memory_ends_the_process() {
    for template in [
        r#"#("a" * 1000000000)"#,
        r#"#let text = "a"; #for _ in range(40) { text = text + text }"#,
        "#let list = (1,); #while list.len() > 0 { list = list + list }",
        "#for number in range(100000000) [#number #pagebreak()]",
    ] {
        let mut typesetter = Typesetter::start();
        typesetter.ask(&support::request(template));
        let said = typesetter.end();
        assert_eq!(
            Fault::of_end(&said).message,
            "the document takes more memory than it may have",
            "{template}: {said}"
        );
        assert!(said.lines().count() <= 2, "{said}");
    }
}

#[test]
fn what_nests_without_end_ends() {
    let deep = |open: &str, close: &str| format!("{}x{}", open.repeat(20_000), close.repeat(20_000));
    for template in [
        "#let f(x) = f(x)\n#f(1)".to_owned(),
        "#show heading: it => [= #it.body]\n= Heading".to_owned(),
        "#let c = [x]\n#for _ in range(100000) { c = box(c) }\n#c".to_owned(),
        "#let a = ()\n#for _ in range(100000) { a = (a,) }\n#a.flatten().len()".to_owned(),
        format!("#{}", deep("(", ")")),
        deep("#[", "]"),
        format!("${}$", deep("(", ")")),
        format!("#json(bytes(\"{}\"))", deep("[", "]")),
    ] {
        for format in support::FORMATS {
            let mut typesetter = Typesetter::start();
            typesetter.ask(&Request { format, ..support::request(&template) });
            let answer = typesetter.answers.recv_timeout(LONG);
            let beginning: String = template.chars().take(40).collect();
            match answer.unwrap_or_else(|_| panic!("{beginning} hangs")) {
                Some(Err(fault)) => assert!(!fault.message.is_empty()),
                Some(Ok(_)) => {}
                None => {
                    let mut said = String::new();
                    typesetter.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
                    assert_ne!(Fault::of_end(&said), Fault::of_end(""), "{beginning}: {said}");
                }
            }
            let _ = typesetter.child.kill();
            typesetter.child.wait().unwrap();
        }
    }
}

#[test]
fn what_is_no_request_ends_the_process_with_a_line() {
    let mut typesetter = Typesetter::start();
    typesetting::write(&mut typesetter.input, b"{}").unwrap();
    let said = typesetter.end();
    assert!(said.starts_with("plaudit-typeset: ") && said.lines().count() == 1, "{said}");
    let mut typesetter = Typesetter::start();
    typesetter.input.write_all(&[0xff; 8]).unwrap();
    assert!(typesetter.end().contains("too long"));
}
