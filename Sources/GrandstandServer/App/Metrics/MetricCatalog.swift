/// Every metric of `GET /metrics`, in the order of docs/metrics.md. A test compares the two.
enum MetricCatalog {
    private static let app = ["bundle_id", "environment"]

    /// The histogram's bounds in seconds. The smallest bound is for a push that is sent right after its commit, the
    /// largest for a push that waited until an outage ended.
    private static let deliveryBounds: [Double] = [
        0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
    ]

    /// The metrics of the whole database. Each replica reports them.
    static let ofDatabase: [MetricDescription] = [
        .init("grandstand_channels", .gauge, labels: app + ["state"], "Channels of the ledger, without deleted ones."),
        .init(
            "grandstand_channel_limit", .gauge, labels: app,
            "The app's channelLimit."),
        .init(
            "grandstand_channels_forecast_peak", .gauge, labels: app,
            "The most channels that declared events will need at once, from now on."),
        .init(
            "grandstand_channels_exceed_seconds", .gauge, labels: app,
            "Seconds until declared events need more channels than the limit allows; absent if they never do."),
        .init(
            "grandstand_channels_unmanaged", .gauge, labels: app,
            "Channels that Apple listed and the ledger does not know."),
        .init("grandstand_channels_missing", .gauge, labels: app, "Channels of the ledger that Apple no longer has."),
        .init(
            "grandstand_alarm", .gauge, labels: app + ["alarm"],
            "1 while GET /v1/quotas shows this alarm, else 0."),
        .init(
            "grandstand_unaccepted_seconds", .gauge, labels: app,
            "Seconds for which broadcasts failed or waited and APNs accepted none; 0 while it accepts them or there are none."
        ),
        .init("grandstand_installations", .gauge, labels: app, "Installations that are registered."),
        .init(
            "grandstand_installations_new", .gauge, labels: app,
            "Installations that were new in this hour of the clock or the previous one, whichever has more."),
        .init(
            "grandstand_send_rate", .gauge, labels: app + ["api"],
            "Messages a second that this process sends for the app, as learned from 429s; absent while APNs does not throttle it. The sum over all processes is what APNs accepts."
        ),
        .init(
            "grandstand_send_waiting_lanes", .gauge, labels: app + ["api"],
            "Channels and crowds whose messages wait because APNs throttles the app; absent while it does not."),
        .init(
            "grandstand_send_waiting_oldest_seconds", .gauge, labels: app + ["api"],
            "Longest wait of a channel or crowd whose messages wait because APNs throttles the app; absent while it does not."
        ),
        .init(
            "grandstand_reconciliation_age_seconds", .gauge, labels: app,
            "Seconds since the last complete reconciliation, or since the app was registered."),
        .init(
            "grandstand_deliveries_pending", .gauge, labels: ["environment", "state"],
            "Deliveries that are not settled."),
        .init(
            "grandstand_delivery_oldest_seconds", .gauge, labels: ["environment"],
            "Age of the oldest delivery that could be sent now, without deliveries to activities by token; 0 if there is none."
        ),
        .init(
            "grandstand_webhook_oldest_seconds", .gauge,
            "Age of the oldest webhook message that is not delivered; 0 if there is none."),
        .init("grandstand_database_bytes", .gauge, "Size of the database on its disk."),
    ]

    /// The metrics of this process.
    static let ofProcess: [MetricDescription] = [
        .init("grandstand_ready", .gauge, "1 while /readyz of this process answers 200, else 0."),
        .init("grandstand_start_time_seconds", .gauge, "When this process started, in seconds since 1970."),
        .init(
            "grandstand_build_info", .gauge, labels: ["version", "schema", "swift"],
            "1, with the versions of this process."),
        .init(
            "grandstand_clock_offset_seconds", .gauge,
            "Seconds by which this machine's clock is ahead of the database's."),
        .init(
            "grandstand_deliveries_total", .counter, labels: ["environment", "state", "reason"],
            "Deliveries that this process settled, with APNs' reason if it gave one."),
        .init(
            "grandstand_accept_to_apns_seconds", .histogram, bounds: deliveryBounds,
            "From the acceptance of a broadcast, or its sendAt, to APNs' 200."),
        .init(
            "grandstand_circuit_open", .gauge, labels: ["environment"],
            "1 while sends to the environment's host are suspended after failures and only probes are sent, else 0."),
        .init(
            "grandstand_throttled_total", .counter, labels: app + ["api"],
            "429 answers of APNs to broadcasts and to pushes to devices."),
        .init(
            "grandstand_starts_total", .counter, labels: ["state", "reason"],
            "Pushes that start an activity and were settled, with APNs' reason if it gave one."),
        .init(
            "grandstand_token_answers_total", .counter, labels: app + ["result"],
            "APNs' answers about device tokens: accepted, or why the token was refused."),
        .init(
            "grandstand_reconciliations_total", .counter, labels: ["result"],
            "Reconciliations that this process ended: ok, alarm, or failed."),
        .init(
            "grandstand_states_total", .counter, labels: ["outcome"],
            "States that this process received with PUT …/state, by outcome."),
        .init(
            "grandstand_saved_sends_total", .counter,
            "Messages to audiences that were not sent, because a state had nothing new."),
        .init(
            "grandstand_webhook_deliveries_total", .counter, labels: ["state"],
            "Messages to webhooks that this process settled."),
        .init(
            "grandstand_lookups_total", .counter, labels: ["result"],
            "Lookups by result; each event of a batch is counted."),
        .init(
            "grandstand_lookup_staleness_seconds", .gauge,
            "Age of the lookup data in memory: seconds since they last agreed with the database; absent before the first check."
        ),
        .init(
            "grandstand_http_requests_total", .counter, labels: ["method", "route", "status"],
            "Answered requests; status 499: the connection ended in the middle of the body."),
        .init(
            "grandstand_http_request_seconds", .histogram, labels: ["method", "route"],
            "Time from a request's header to its answer."),
        .init(
            "grandstand_database_trouble", .gauge, labels: ["trouble"],
            "1 while this process sees this trouble of the database, else 0."),
        .init(
            "grandstand_database_connections", .gauge, labels: ["pool", "state"],
            "Connections to the database: idle, or busy."),
        .init(
            "grandstand_database_wait_seconds", .histogram, labels: ["pool"],
            "How long callers waited for a connection to the database."),
    ]

    /// The metrics of this process's connections to APNs.
    static let ofAPNs: [MetricDescription] = {
        let pool = ["host", "team", "key", "traffic"]
        return [
            .init(
                "grandstand_apns_answers_total", .counter, labels: ["call", "status", "reason"],
                "APNs' answers; status 0: there was none."),
            .init(
                "grandstand_apns_round_trip_seconds", .histogram, labels: pool,
                "Time from a request's first byte to APNs' answer."),
            .init(
                "grandstand_apns_queue_wait_seconds", .histogram, labels: pool,
                "How long a request waited for a free stream."),
            .init("grandstand_apns_connections", .gauge, labels: pool, "Open connections."),
            .init("grandstand_apns_streams_in_use", .gauge, labels: pool, "Requests under way."),
            .init(
                "grandstand_apns_connects_total", .counter, labels: pool + ["result"],
                "Attempts to connect, by result: ok, or the step that failed."),
            .init(
                "grandstand_apns_goaways_total", .counter, labels: pool + ["reason"],
                "Connections that APNs ended, by its reason."),
            .init(
                "grandstand_apns_replays_total", .counter,
                "Requests that were repeated because APNs had not processed them."),
            .init("grandstand_apns_token_renewals_total", .counter, "Provider tokens that replaced another one."),
            .init(
                "grandstand_apns_token_age_seconds", .gauge, labels: ["team", "key"],
                "Seconds since the provider token in use was issued."),
        ]
    }()

    static let all = ofDatabase + ofProcess + ofAPNs
}
