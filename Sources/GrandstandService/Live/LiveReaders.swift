internal import FoundationEssentials
internal import Grandstand

/// The viewers of each event, and the content that was shown to them.
struct LiveReaders {
    struct Member {
        let id: UUID
        /// The ID of the viewer's API key.
        let reader: UUID
        /// The tag of the last update that the viewer got from an earlier stream.
        let seen: String?
        let continuation: AsyncStream<LiveUpdate>.Continuation
        var isNew = true

        init(id: UUID, reader: UUID, seen: String?, _ continuation: AsyncStream<LiveUpdate>.Continuation) {
            self.id = id
            self.reader = reader
            self.seen = seen
            self.continuation = continuation
        }
    }

    private struct View {
        /// The board that was shown to all members except the new members.
        var board: LiveBoard?
        var members: [UUID: Member] = [:]
    }

    /// Why a viewer is rejected.
    enum Refusal {
        /// All places are taken, or the server stops.
        case full
        /// The viewer's key already has the maximum number of places for one key.
        case keyHasAll
    }

    private let maximum: Int
    private let maximumPerKey: Int
    private var byReader: [UUID: Int] = [:]
    private var views: [LiveSubject: View] = [:]
    private var marked: Set<LiveSubject> = []
    private var isClosed = false
    private(set) var count = 0

    init(maximum: Int, maximumPerKey: Int) {
        self.maximum = maximum
        self.maximumPerKey = maximumPerKey
    }

    var isEmpty: Bool { count == 0 }

    /// - Returns: `nil` if the member was added.
    mutating func add(_ member: Member, to subject: LiveSubject) -> Refusal? {
        guard !isClosed, count < maximum else { return .full }
        guard byReader[member.reader, default: 0] < maximumPerKey else { return .keyHasAll }
        count += 1
        byReader[member.reader, default: 0] += 1
        views[subject, default: View()].members[member.id] = member
        marked.insert(subject)
        return nil
    }

    mutating func remove(_ id: UUID, from subject: LiveSubject) {
        guard let member = views[subject]?.members.removeValue(forKey: id) else { return }
        count -= 1
        if let left = byReader[member.reader] { byReader[member.reader] = left > 1 ? left - 1 : nil }
        guard views[subject]?.members.isEmpty ?? false else { return }
        views[subject] = nil
        marked.remove(subject)
    }

    /// Marks subjects to be read again.
    mutating func mark(_ read: Set<LiveSubject>) { marked.formUnion(read.filter { views[$0] != nil }) }

    /// Clears the marks.
    ///
    /// - Returns: all subjects that have viewers, and the marked subjects, which must be read now.
    mutating func turn() -> (watched: Set<LiveSubject>, marked: Set<LiveSubject>) {
        defer { marked = [] }
        return (Set(views.keys), marked)
    }

    /// Sends the boards that were read. New members get a snapshot, and the other members get the changes.
    ///
    /// - Parameter gone: subjects that their viewers may no longer see.
    /// - Returns: the streams to end: the streams of viewers who are too slow, or who may no longer see the event.
    mutating func show(
        _ boards: [LiveSubject: LiveBoard], gone: Set<LiveSubject> = []
    ) -> [AsyncStream<LiveUpdate>.Continuation] {
        var slow = gone.flatMap { views[$0]?.members.values.map(\.continuation) ?? [] }
        for (subject, board) in boards {
            guard var view = views[subject] else { continue }
            let tag = board.tag
            let changes = view.board.map { board.changes(since: $0) } ?? []
            let updates = changes.enumerated().map { index, content in
                LiveUpdate(content, tag: index == changes.count - 1 ? tag : nil)
            }
            for (id, member) in view.members {
                let mine =
                    member.isNew ? (member.seen == tag ? [] : [LiveUpdate(.snapshot(board), tag: tag)]) : updates
                for update in mine {
                    guard case .dropped = member.continuation.yield(update) else { continue }
                    slow.append(member.continuation)
                    break
                }
                view.members[id]?.isNew = false
            }
            view.board = board
            views[subject] = view
        }
        return slow
    }

    /// Sends a heartbeat to all streams.
    ///
    /// - Returns: the streams of readers that are too slow, to be ended.
    func beat() -> [AsyncStream<LiveUpdate>.Continuation] {
        views.values.flatMap { view in
            view.members.values.map(\.continuation).filter { continuation in
                if case .dropped = continuation.yield(LiveUpdate(.heartbeat, tag: nil)) { true } else { false }
            }
        }
    }

    /// - Returns: all streams, to be ended.
    mutating func close() -> [AsyncStream<LiveUpdate>.Continuation] {
        isClosed = true
        return views.values.flatMap { $0.members.values.map(\.continuation) }
    }
}
