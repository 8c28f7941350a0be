use super::*;

#[tokio::test]
async fn a_path_leads_to_a_file_below_the_folder_of_files_that_is_not_the_services_own() {
    let place = Place::new().await;
    let outside = TempDir::new().unwrap();
    std::fs::write(outside.path().join("a.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), place.folder.path().join("away")).unwrap();
    std::os::unix::fs::symlink("plaudit.db", place.folder.path().join("b.txt")).unwrap();
    for (path, expected) in [
        ("../b.txt", "must be a path below the folder of files, which is "),
        ("/etc/hostname", "must be a path below the folder of files, which is "),
        ("", "must be a path below the folder of files, which is "),
        ("away/a.txt", "leads out of the folder of files"),
        ("plaudit.db", "plaudit.db is a file of the service itself"),
        ("./plaudit.db", "./plaudit.db is a file of the service itself"),
        ("b.txt", "b.txt is a file of the service itself"),
    ] {
        let file = format!(r#"{{"kind":"file","token":"TokenTokenToken","filename":"b.txt","path":"{path}"}}"#);
        let reported = place.faults(&format!("{ACCOUNT}\n{file}\n")).await;
        assert!(reported[0].starts_with(&format!("a.jsonl:2: file TokenTokenToken: path: {expected}")), "{reported:?}");
    }
}

#[tokio::test]
async fn a_file_is_read_from_the_folder_of_files_and_never_changes() {
    let place = Place::new().await;
    std::fs::write(place.folder.path().join("b.txt"), "beside").unwrap();
    let file = |more: &str| format!(r#"{{"kind":"file","token":"TokenTokenToken","filename":"b.txt"{more}}}"#);
    place.import(&format!("{ACCOUNT}\n{}\n", file(r#","path":"./b.txt""#))).await;
    assert!(place.export().await.contains(r#""data":"YmVzaWRl""#));
    place.import(&format!("{ACCOUNT}\n{}\n", file(""))).await;
    let reported = place.faults(&format!("{ACCOUNT}\n{}\n", file(r#","data":"SGVsbG8=""#))).await;
    assert!(reported[0].contains("file TokenTokenToken: data: is not what is stored"), "{reported:?}");
    let reported = place.faults(&format!("{ACCOUNT}\n{}\n", file(r#","data":"YmVzaWRl","size":7"#))).await;
    assert!(reported[0].contains("file TokenTokenToken: size: contradicts"), "{reported:?}");
}
