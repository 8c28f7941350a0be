use std::task::Context;

use futures_util::FutureExt as _;

use super::*;

fn connections(all: usize, of_address: usize) -> Arc<Connections> {
    Connections::new(Room { all, of_address })
}

#[allow(clippy::unnecessary_wraps, reason = "admission takes an address that may not be known")]
fn address(last: u8) -> Option<IpAddr> {
    Some(IpAddr::from([192, 0, 2, last]))
}

fn place(connections: &Arc<Connections>, address: Option<IpAddr>) -> Place {
    match connections.admit_now(address) {
        Admission::Admitted(place) => place,
        Admission::Waits => panic!("it waits"),
        Admission::Refused => panic!("it is refused"),
    }
}

fn answer(place: &Place) {
    place.activity.set(Phase::Working);
    place.activity.answered();
}

/// Which of these are asked to give way to a new connection of an address.
fn gives_way(connections: &Arc<Connections>, address: Option<IpAddr>, places: &[Place]) -> Vec<usize> {
    assert!(!matches!(connections.admit_now(address), Admission::Refused));
    let leaves = |place: &Place| place.activity.standing() == Standing::Leaving;
    places.iter().enumerate().filter(|(_, place)| leaves(place)).map(|(position, _)| position).collect()
}

#[test]
fn the_order_in_which_connections_give_way_is_by_the_number_of_the_address_then_new_then_idle() {
    let connections = [
        (9, 4, Standing::New),
        (9, 5, Standing::New),
        (9, 1, Standing::Idle(5)),
        (9, 0, Standing::Idle(7)),
        (2, 3, Standing::New),
        (2, 2, Standing::Idle(4)),
        (1, 6, Standing::New),
        (1, 7, Standing::Idle(8)),
    ];
    assert!(connections.map(|(of_address, number, standing)| standing.rank(of_address, number)).is_sorted());
    assert_eq!(Standing::Busy.rank(9, 0), None);
    assert_eq!(Standing::Leaving.rank(9, 0), None);
}

#[test]
fn of_one_address_the_oldest_without_an_answered_request_gives_way_then_the_longest_idle() {
    let connections = connections(4, 4);
    let mut places: Vec<Place> = (0..4).map(|_| place(&connections, address(1))).collect();
    answer(&places[0]);
    places[1].activity.set(Phase::Working);
    places[3].activity.received(34);
    assert_eq!(gives_way(&connections, address(1), &places), [2]);
    // Whoever asks again while it leaves makes nobody else go.
    assert_eq!(gives_way(&connections, address(1), &places), [2]);
    drop(places.remove(2));
    places.push(place(&connections, address(1)));
    answer(&places[3]);
    assert_eq!(gives_way(&connections, address(1), &places), [2], "bytes without an answer renew nothing");
    drop(places.remove(2));
    places.push(place(&connections, address(1)));
    answer(&places[0]);
    answer(&places[3]);
    assert_eq!(gives_way(&connections, address(1), &places), [2], "an answered request does");
}

#[test]
fn the_address_with_the_most_connections_gives_way_and_one_over_its_share_to_itself() {
    let connections = connections(6, 3);
    let mut places: Vec<Place> = [1, 2, 2, 2, 3, 3].map(|last| place(&connections, address(last))).into();
    places[1..].iter().for_each(answer);
    assert_eq!(gives_way(&connections, address(4), &places), [1], "not the new one of an address that has one alone");
    drop(places.remove(1));
    places.insert(1, place(&connections, address(4)));
    assert_eq!(gives_way(&connections, address(5), &places), [2], "where addresses have as many, the longest idle");
    drop(places.drain(2..));
    places.push(place(&connections, address(1)));
    places.push(place(&connections, address(1)));
    assert_eq!(gives_way(&connections, address(1), &places), [0], "there is room for others");
}

#[test]
fn new_ones_do_not_wait_for_others_to_close_but_for_a_few() {
    let connections = connections(32, 8);
    let places: Vec<Place> = (0..32).map(|number| place(&connections, address(number / 8))).collect();
    let more = [0, 4].map(|last| place(&connections, address(last)));
    let leaves = |place: &&Place| place.activity.standing() == Standing::Leaving;
    assert_eq!(places.iter().filter(leaves).count(), 2);
    assert!(matches!(connections.admit_now(address(4)), Admission::Waits));
    drop(places);
    drop(more);
}

#[test]
fn a_busy_connection_never_gives_way() {
    let connections = connections(3, 2);
    let mut places: Vec<Place> = [1, 1, 2].map(|last| place(&connections, address(last))).into();
    for place in &places {
        place.activity.set(Phase::Working);
    }
    assert!(matches!(connections.admit_now(address(1)), Admission::Refused), "of an address that has its share");
    assert_eq!(gives_way(&connections, address(2), &places), [0_usize; 0]);
    assert_eq!(gives_way(&connections, None, &places), [0_usize; 0]);
    places[1].activity.answered();
    assert_eq!(gives_way(&connections, address(1), &places), [1]);
    places[1].activity.set(Phase::Working);
    let context = Context::from_waker(std::task::Waker::noop());
    assert!(places[1].activity.poll_give_way(&context).is_pending(), "what became busy goes on");
    drop(places.pop());
    drop(place(&connections, address(2)));
}

#[tokio::test]
async fn a_network_of_one_subscriber_is_one_address_and_a_trusted_proxy_is_none() {
    let connections = connections(10, 1);
    let [near, other, far] = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"].map(|text| text.parse().ok());
    let admit = |address| connections.admit(address).now_or_never();
    let first = admit(near).flatten().unwrap();
    let _second = admit(other).flatten().unwrap();
    assert_eq!(first.activity.standing(), Standing::Leaving);
    let places = [far, None, None, None].map(|address| admit(address).flatten().unwrap());
    assert!(places.iter().all(|place| place.activity.standing() == Standing::New));
}

#[test]
fn connections_are_measured_by_what_they_do() {
    let connections = connections(4, 4);
    let places: Vec<Place> = (0..4).map(|_| place(&connections, address(1))).collect();
    places[0].activity.set(Phase::Working);
    answer(&places[1]);
    assert_eq!(gives_way(&connections, address(1), &places), [2]);
    places[2].gave_way();
    let mut exposition = Exposition::default();
    connections.write(&mut exposition);
    let text = String::from(exposition);
    for line in [
        "plaudit_connections{state=\"new\"} 1",
        "plaudit_connections{state=\"idle\"} 2",
        "plaudit_connections{state=\"busy\"} 1",
        "plaudit_connections_gave_way_total 1",
        "plaudit_connections_refused_total 0",
        "plaudit_connections_accepted_total 4",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }
}
