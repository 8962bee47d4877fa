internal import APNsWire
internal import GrandstandContract

extension LaneScript {
    static let all: [LaneScript] = [
        alerts, order, answers, leases, withdrawals, ends, channels, tokens,
    ].flatMap(\.self)

    private static let alerts = named([
        "after 15 minutes only the newest state is sent, and says why it did not ring": .init(
            [.alert, .alert, .alert, .wait(900), .send, .take, .states, .reason(3)],
            "3, -, superseded superseded accepted, the alert was too old to ring"),
        "an end is sent without its old alert": .init(
            [.accept(.init(alerting: true, isEnd: true)), .wait(900), .send], "1"),
        "the reason that an alert did not ring is shown after further attempts": .init(
            [.alert, .take, .retry(900), .wait(900), .take, .retry(900), .wait(900), .send, .reason(1)],
            "1!1, 1, =1, the alert was too old to ring"),
        "an alert that a newer state undid does not ring": .init(
            [.alert, .update, .silence(1), .states, .send], "superseded queued, 2"),
        "an alert under way that a newer state undid is not repeated": .init(
            [.alert, .take, .update, .silence(1), .retry(1), .states, .wait(1), .send], "1!1, superseded queued, 2"),
        "an alert that was scheduled takes newer content, which stays the newest and is not withdrawn": .init(
            [
                .update, .accept(.init(alerting: true, carrying: 1)), .states, .withdraw(1), .newest, .take,
                .settle(.refused(1)), .update, .take,
            ], "superseded queued, stays, 1, 1!2, 3!2"),
        "newer content goes with an alert that APNs refused, and not with one that may have rung": .init(
            [
                .alert, .take, .settle(.refused(1)), .update, .take, .wait(5), .update, .take, .settle(.refused(1)),
                .update, .wait(1), .take, .ok, .take,
            ], "1!1, 2!1, =2!1, =2!1, 4"),
        "an alert that rang at a later attempt has no reason": .init(
            [.alert, .take, .retry(1), .wait(1), .send, .reason(1)], "1!1, =1!1, none"),
    ])

    private static let order = named([
        "an update gives way to a newer one, an alert does not, and the end is last": .init(
            [.update, .alert, .update, .update, .end, .states, .send, .send, .take, .gate],
            "superseded queued superseded superseded queued, 2!2, 5, -, fenced"),
        "timestamps are at most an hour ahead of the clock, and beyond that the lane waits": .init(
            [.lift(3_600), .update, .take, .due, .update, .wait(1), .send, .timestamp], "-, +1, 2, 3601"),
        "a late claim does not delay the next message": .init(
            every: 1, [.update, .send, .update, .wait(1.25), .send, .update, .due], "1, 2, +0.75"),
        "half an interval lies between two messages": .init(
            every: 1, [.update, .send, .update, .wait(30), .send, .update, .due], "1, 2, +0.5"),
        "after a quiet time the interval counts from when the message was sent": .init(
            every: 1, [.update, .send, .wait(60), .update, .send, .wait(0.25), .update, .due], "1, 2, +0.75"),
        "a quiet change waits for its time, and only the newest is sent": .init(
            [.quiet(after: 30), .due, .wait(2), .quiet(after: 28), .take, .wait(28), .send], "+30, -, 2"),
        "an update does not wait behind a quiet change": .init(
            [.quiet(after: 30), .urgent, .send], "2^"),
        "a quiet change that replaces a waiting update takes over its time and priority": .init(
            [.urgent, .quiet(after: 30), .send], "2^"),
        "a lane has the rank of its most urgent waiting message": .init(
            [.update, .rank, .alert, .rank, .wait(900), .rank, .end, .rank], "quiet, ringing, immediate, ringing"),
    ])

    private static let answers = named([
        "a refusal or a missed deadline settles the message and frees the lane": .init(
            [
                .update, .take, .settle(.rejected), .update, .take, .settle(.expired), .update, .send, .states,
                .reason(1), .reason(2),
            ], "1, 2, 3, rejected expired accepted, ChannelNotRegistered, late"),
        "a released message is back at once and does not count as an attempt": .init(
            every: 1, [.update, .take, .release(1), .states, .attempts(1), .takeover, .attempts(1)],
            "1, queued, 0, =1, 1"),
    ])

    private static let leases = named([
        "a result after the lease went to another replica changes nothing": .init(
            [
                .update, .take, .wait(5), .takeover, .settle(.rejected), .release(1), .take, .settle(.ok, by: 1),
                .states,
            ], "1, =1, ignored, ignored, -, accepted"),
        "a replica's own late result does not free the lane during its next message": .init(
            [.update, .take, .update, .wait(5), .take, .settle(.ok, of: 1), .release(1), .takeover, .ok, .states],
            "1, 2, ignored, ignored, -, superseded accepted"),
        "only the replica that has a lease can extend it": .init(
            [.update, .take, .extend(100, by: 1), .extend(9), .wait(8), .takeover, .wait(1), .takeover], "1, -, =1"),
    ])

    private static let withdrawals = named([
        "an earlier update waits for its channel again, unless it has expired": .init(
            [.disconnect, .update(for: 10), .update, .withdraw(2), .states, .update, .wait(10), .withdraw(3), .states],
            "free, withdrawn, waiting cancelled, withdrawn, superseded cancelled cancelled"),
        "a message that was given back stays": .init(
            [.end, .take, .release(1), .withdraw(1)], "1, stays"),
        "an end that APNs always refused can be withdrawn, and the update before it is sent as another message": .init(
            [.update, .take, .retry(0), .end, .take, .settle(.refused(30)), .withdraw(2), .gate, .send],
            "1, 2, withdrawn, open, 1"),
        "a message under way when its event is cancelled is settled and not repeated": .init(
            [.update, .take, .close, .states, .retry(0), .states, .due], "1, sending, cancelled, idle"),
        "a message given back after its event was cancelled is cancelled": .init(
            [.update, .take, .close, .release(1), .states, .due], "1, cancelled, idle"),
    ])

    /// An end by mistake, as far as it can be undone.
    private static let ends = named([
        "a waiting end is not sent, and what it replaced is sent": .init(
            [.update, .end, .states, .wait(1), .takeBack, .states, .newest, .gate, .take],
            "superseded queued, unsent, queued cancelled, 1, open, 1"),
        "after an end that APNs has, the content before it must be sent again, once": .init(
            [.update, .send, .end, .send, .wait(1), .takeBack, .newest, .update, .take, .takeBack],
            "1, 2, resend, 1, 3, unsent"),
        "an end under way is not repeated after a failure": .init(
            [.end, .take, .wait(1), .takeBack, .update, .wait(1), .retry(1), .states, .wait(2), .take],
            "1, sent, cancelled queued, 2"),
        "an end under way may be accepted": .init(
            [.end, .take, .wait(1), .takeBack, .update, .wait(1), .ok, .states, .take], "1, sent, accepted queued, 2"),
        "an end that a dead replica was sending is not repeated": .init(
            [.end, .take, .wait(1), .takeBack, .wait(9), .take, .states], "1, sent, -, cancelled"),
        "an update that was tried before the end is another message after it": .init(
            [.update, .take, .retry(60), .wait(1), .end, .send, .wait(1), .takeBack, .take], "1, 2, sent, 1"),
        "of two ends the later is sent, and the first is not repeated": .init(
            [.end, .take, .wait(1), .takeBack, .end, .wait(1), .retry(0), .take, .states],
            "1, sent, 2, superseded sending"),
        "messages cancelled with their event stay cancelled and are not shown": .init(
            [.update, .send, .update, .wait(1), .close, .wait(1), .takeBack, .gate, .newest, .states],
            "1, unsent, open, 1, accepted cancelled"),
        "the last end replaces waiting messages": .init(
            [.update, .makeWay, .states, .gate], "end, cancelled, open"),
        "without a channel there is no last end": .init(
            [.disconnect, .update, .makeWay, .states, .gate], "free, no end, cancelled, open"),
        "tokens get the last end": .init(to: .tokens, [.makeWay], "end"),
        "a lane with its own end gets no other": .init([.end, .makeWay, .states], "no end, queued"),
        "tokens that were not reached yet do not get the end": .init(
            to: .tokens, [.end, .take, .sweep(accepted: 10), .takeBack, .states, .wait(1), .take],
            "1@, sent, cancelled, -"),
        "a lane that was closed by the clock opens again": .init([.fence, .reopen, .gate], "open"),
        "a lane that had its own end before stays fenced": .init(
            [.fence, .wait(1), .close, .gate, .reopen, .gate], "closed, fenced"),
    ])

    private static let channels = named([
        "a message that waits for a channel expires at its time": .init(
            [.disconnect, .update(for: 60), .due, .wait(60), .take, .states, .due], "free, +60, -, expired, idle"),
        "an end accepted before the channel existed is sent": .init(
            [.disconnect, .end, .connect, .send, .states], "free, 1, accepted"),
        "waiting messages of a cancelled event are cancelled": .init(
            [.disconnect, .update, .close, .states, .due], "free, cancelled, idle"),
        "a channel is needed until its stored message expires": .init(
            [.update(for: 90), .send, .disconnect, .disconnect], "1, +90, free"),
        "a channel is needed for the request under way": .init(
            [.update(for: 60), .take, .disconnect], "1, +60"),
        "a channel that stores nothing is needed until the lease ends": .init(
            storing: .noMessageStored, [.update, .take, .disconnect], "1, +5"),
        "a request on the old channel counts for nothing on the new one": .init(
            [.update(for: 60), .take, .change, .ok, .connect, .disconnect, .states], "1, +60, free, accepted"),
        "a refusal because of the old channel does not doubt the new one": .init(
            [.update(for: 60), .take, .disconnect, .connect, .settle(.doubted(1)), .states], "1, +60, queued"),
        "if a lane loses its channel for good, only the message that APNs refused because of it is rejected": .init(
            [.alert(for: 60), .take, .settle(.doubted(1)), .update, .lose, .states], "1!1, doubt, +60, rejected waiting"
        ),
    ])

    private static let tokens = named([
        "shards follow one another without waiting for the interval, with one timestamp": .init(
            to: .tokens, every: 1,
            [
                .update, .states, .take, .takeover, .sweep(accepted: 20), .due, .take,
                .last(accepted: 5), .states, .counts(1), .due,
            ], "queued, 1@, -, +0, =1@, accepted, 25: 25 0 0 0 0, idle"),
        "newer state replaces the rest, after the interval from the first shard": .init(
            to: .tokens, every: 1,
            [.update, .take, .sweep(accepted: 20), .update, .states, .due, .wait(1), .take],
            "1@, superseded queued, +1, 2@"),
        "a shard under way is not replaced, and the last one ends its message": .init(
            to: .tokens, every: 1,
            [
                .update, .take, .update, .states, .sweep(accepted: 20), .states, .wait(1), .take, .update,
                .last(accepted: 40), .states,
            ], "1@, sending queued, superseded queued, 2@, superseded accepted queued"),
        "an alert reaches every token, and the remaining ones get it with the newest content": .init(
            to: .tokens, every: 1,
            [
                .alert, .take, .sweep(accepted: 20), .update, .states, .wait(1), .take,
                .last(accepted: 10), .wait(1), .take,
            ], "1!1@, queued queued, 2!1@, 2@"),
        // A message to a token may have 4,096 bytes, and a message to a channel 5,120.
        "an alert takes newer content along if both fit": .init(
            to: .tokens, [.alert, .take, .sweep(), .accept(.init(bytes: 3_900)), .take], "1!1@, 2!1@"),
        "an alert does not take along content that is too large for a token": .init(
            to: .tokens, [.alert, .take, .sweep(), .accept(.init(bytes: 4_000)), .take], "1!1@, =1!1@"),
        "an end is sent last and closes the lane": .init(
            to: .tokens, [.update, .end, .states, .gate, .take], "superseded queued, fenced, 2@"),
        "only tokens that APNs did not accept are tried again, after a pause": .init(
            to: .tokens, every: 1,
            [
                .update, .take, .last(waiting: 2, accepted: 58), .states, .reason(1), .due, .wait(7), .take,
                .last(waiting: 1, accepted: 1), .wait(7), .take, .last(gone: 1), .states, .counts(1),
            ], "1@, queued, slow, +7, =1@rest, =1@rest, accepted, 60: 59 0 1 0 0"),
        "a message that reached nobody in time is expired": .init(
            to: .tokens,
            [
                .update, .take, .last(expired: 3), .states, .reason(1), .counts(1), .update, .take,
                .last(accepted: 2, expired: 1), .states,
            ], "1@, expired, slow, 3: 0 0 0 3 0, 2@, expired accepted"),
        "a token without an answer counts as expired": .init(
            to: .tokens,
            [.update(for: 3), .take, .last(waiting: 1, accepted: 1), .wait(3), .take, .states, .counts(1)],
            "1@, -, expired, 2: 1 0 0 1 0"),
        "the reason of a failed attempt is removed after a successful one": .init(
            to: .tokens,
            [
                .update, .take, .last(waiting: 1, accepted: 1), .reason(1), .wait(7), .take,
                .last(accepted: 1), .states, .reason(1),
            ], "1@, slow, =1@rest, accepted, none"),
        "a message that everybody refused is rejected, and one to nobody is accepted": .init(
            to: .tokens,
            [.update, .take, .last(rejected: 9), .states, .reason(1), .update, .take, .last(), .states],
            "1@, rejected, slow, 2@, rejected accepted"),
        "after a lease ended another replica repeats the shard, and its answers count once": .init(
            to: .tokens, [.update, .take, .due, .wait(5), .takeover, .wait(1), .sweep(accepted: 20)],
            "1@, +5, =1@, ignored"),
        "a message that expires half-way is not sent to the rest": .init(
            to: .tokens, [.update(for: 3), .take, .wait(3), .sweep(accepted: 20), .states, .counts(1)],
            "1@, expired, 20: 20 0 0 0 0"),
        "newer state does not wait for tokens that pause between pushes": .init(
            to: .tokens,
            [
                .update, .take, .last(waiting: 2, resting: 2, accepted: 7), .update, .take,
                .last(waiting: 3, resting: 2, accepted: 7), .states, .counts(2), .update, .states, .take,
                .last(waiting: 2, resting: 2, accepted: 7), .wait(7), .take, .last(waiting: 1, resting: 1, accepted: 1),
                // The activity of the other resting token was dismissed.
                .wait(7), .take, .last(), .states,
            ],
            "1@, 2@, accepted queued, 10: 7 0 0 0 3, accepted superseded queued, 3@, =3@rest, =3@rest, "
                + "accepted superseded accepted"),
        "a token that still pauses when the message expires counts as expired": .init(
            to: .tokens,
            [
                .update(for: 30), .take, .last(waiting: 2, resting: 2, accepted: 7), .wait(30), .take, .states,
                .counts(1),
            ],
            "1@, -, accepted, 9: 7 0 0 2 0"),
        "a shard that is settled twice counts once": .init(
            to: .tokens,
            [
                .update, .take, .sweep(accepted: 20), .take, .sweep(accepted: 20, number: 1), .states,
                .last(accepted: 9), .counts(1),
            ], "1@, =1@, ignored, sending, 29: 29 0 0 0 0"),
        "an alert that a dead replica was sending goes with newer content to those that cannot have had it": .init(
            to: .tokens, [.alert, .take, .update, .wait(5), .take, .sweep(accepted: 20), .take],
            "1!1@, 2!1@, =2!1@"),
        "one token without an alert that all others have does not delay newer state": .init(
            to: .tokens, [.alert, .take, .last(waiting: 1, accepted: 59), .states, .update, .states, .take],
            "1!1@, queued, superseded queued, 2@"),
        "a lane is leased for late tokens if nothing else is sent or due": .init(
            to: .tokens,
            [.lease, .lease, .due, .update, .take, .giveBack(by: 1), .take, .giveBack(by: 0), .lease, .take],
            "leased, busy, +5, -, -, busy, 1@"),
    ])
}
