internal import GrandstandClient

extension Noun {
    /// The call that an app makes before it starts an activity.
    static let lookup = Noun(
        [
            Verb(
                "lookup", .lookup, "The channel of an event, as apps look it up.",
                discussion: "If the channel is being created, it waits.",
                [
                    .init(
                        .integer, "patience",
                        "Seconds to wait for the channel while it is being created; 0: do not wait. Without it: 30.",
                        use: .own)
                ]
            ) { given in
                let app = GrandstandClient.AppEnvironment(
                    given["bundle-id"] ?? "", .init(rawValue: given["environment"] ?? ""))
                // This call only waits. The next one shows the answer, or why there is none.
                _ = try? await ServerAccess().client.lookup(
                    given["key"] ?? "", in: app, variant: given["variant"],
                    patience: given["patience"].flatMap(Double.init) ?? 30)
                try await given.callAndShow()
            }
        ])
}
