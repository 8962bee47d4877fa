/// One box of several that may be ticked.
struct Check: Sendable {
    let value: String
    let hint: String
    let isTicked: Bool
}
