internal import FoundationEssentials

/// What a calendar changes of its events. Pure: its entries, what it said last, the events as they are, and now decide.
///
/// Only what the calendar changed since it was synced last is changed of an event, so what somebody changed by hand stays.
package struct CalendarPlan: Sendable {
    package private(set) var create: [Write] = []
    package private(set) var change: [Write] = []
    package private(set) var cancel: [Cancellation] = []
    package private(set) var unchanged = 0
    /// Entries that were over before they ever were events.
    package private(set) var past = 0
    package private(set) var problems: [CalendarProblem]
    package private(set) var shrinkage: Shrinkage?
    /// What is to be remembered of entries, by UID; of others what was.
    package private(set) var memory: [String: Synced] = [:]
    /// Entries that need not be remembered any more.
    package private(set) var forgotten: [String] = []

    package init(_ wish: Wish, _ situation: Situation, documents: EventDocuments) {
        problems = wish.problems
        var situation = situation
        inherit(wish, &situation)
        var seen: [EventKey: CalendarDraft] = [:]
        for draft in wish.drafts ?? [] {
            let key = situation.synced[draft.uid]?.key ?? draft.key
            if let other = seen.updateValue(draft, forKey: key) {
                seen[key] = other
                refuse(draft, "The event \(key) is that of the entry on line \(other.line) already; the first counts.")
            } else {
                consider(draft, key, situation, documents)
            }
        }
        sweep(wish, situation)
    }

    /// Whether anything is to be written of events.
    package var isEmpty: Bool { create.isEmpty && change.isEmpty && cancel.isEmpty }

    /// The keys of events that are written.
    package var keys: Set<EventKey> {
        Set(create.map(\.specification.key) + change.map(\.specification.key) + cancel.map(\.event.specification.key))
    }

    // MARK: Entries of the file

    /// An entry that has another UID now, and would make the same event, is the same entry.
    private mutating func inherit(_ wish: Wish, _ situation: inout Situation) {
        let here = Set((wish.drafts ?? []).map(\.uid)).union(wish.problems.compactMap(\.uid))
        var left: [EventKey: String] = [:]
        for (uid, synced) in situation.synced where !here.contains(uid) { left[synced.key] = uid }
        for draft in wish.drafts ?? [] where situation.synced[draft.uid] == nil {
            guard let old = left.removeValue(forKey: draft.key) else { continue }
            memory[draft.uid] = situation.synced.removeValue(forKey: old)
            situation.synced[draft.uid] = memory[draft.uid]
            forgotten.append(old)
        }
    }

    private mutating func consider(
        _ draft: CalendarDraft, _ key: EventKey, _ situation: Situation, _ documents: EventDocuments
    ) {
        let synced = situation.synced[draft.uid]
        if synced == nil, situation.taken.contains(key) {
            return refuse(draft, "The event \(key) is another calendar's; change eventKey so that keys differ.")
        }
        if synced == nil, situation.synced.contains(where: { $0.value.key == key }) {
            return refuse(draft, "The event \(key) is another entry's; change eventKey so that keys differ.")
        }
        guard let present = situation.events[key] else {
            if draft.isCancelled || draft.isPast(situation.now) {
                past += 1
            } else if let specification = read(key, draft.document, draft, documents) {
                create.append(Write(uid: draft.uid, specification: specification, fields: []))
                memory[draft.uid] = Synced(key: key, document: draft.document)
            }
            return
        }
        let event = present.event
        guard situation.reach.covers(eventOf: event.specification.audiences.map(\.bundleID)) else {
            return refuse(draft, "The event \(key) is another app's, or another app's, too.")
        }
        if draft.isCancelled { return consider(cancelled: draft, event, synced) }
        if event.state.isOver, !(present.isExpired && event.state == .ended) {
            remember(draft, synced)
            if event.state == .cancelled, synced?.isCancelled ?? false, !draft.isPast(situation.now) {
                return refuse(
                    draft,
                    "The event \(key) was cancelled by this calendar, which has it again. "
                        + "POST /v1/events/\(key)/reopen takes that back.")
            }
            unchanged += 1
            return
        }
        let names = synced.map { draft.document.differences(from: $0.document) } ?? draft.document.names
        let said = Synced(key: key, document: draft.document)
        guard !names.isEmpty else {
            if said != synced { memory[draft.uid] = said }
            unchanged += 1
            return
        }
        let before = documents.document(of: event.specification)
        var merged = before.taking(names, from: draft.document)
        // One excludes the other; the later word counts.
        if names.contains("channelsOpenBefore"), merged["channelsOpenBefore"] != nil { merged["channelsOpenAt"] = nil }
        guard var specification = read(key, merged, draft, documents) else { return }
        specification.metadata = event.specification.metadata
        memory[draft.uid] = said
        let after = documents.document(of: specification)
        let fields = after.differences(from: before).map { Field(name: $0, old: before[$0], new: after[$0]) }
        if fields.isEmpty || event.state.isOver && !specification.reaches(beyond: situation.now) {
            unchanged += 1
        } else {
            change.append(Write(uid: draft.uid, specification: specification, fields: fields))
        }
    }

    private mutating func consider(cancelled draft: CalendarDraft, _ event: Event, _ synced: Synced?) {
        // Nothing new: whoever opened the event again by hand meant it.
        if event.state.isOver || synced?.isCancelled ?? false {
            unchanged += 1
            return remember(draft, synced)
        }
        let key = event.specification.key
        guard event.state == .scheduled else {
            remember(draft, synced)
            return refuse(
                draft, "The calendar cancels the event \(key), which has begun. DELETE /v1/events/\(key) cancels it.")
        }
        cancel.append(Cancellation(uid: draft.uid, event: event, reason: .cancelled))
        memory[draft.uid] = Synced(key: key, document: synced?.document ?? draft.document, isCancelled: true)
    }

    /// The entry is there; what it said last stays what it said.
    private mutating func remember(_ draft: CalendarDraft, _ synced: Synced?) {
        guard var synced, synced.isMissing else { return }
        synced.isMissing = false
        memory[draft.uid] = synced
    }

    private mutating func read(
        _ key: EventKey, _ document: EventDocument, _ draft: CalendarDraft, _ documents: EventDocuments
    ) -> EventSpecification? {
        do throws(Problem) {
            return try documents.read(key, document)
        } catch {
            let faults = error.errors.map { "\($0.pointer): \($0.detail)" }
            refuse(draft, faults.isEmpty ? error.detail : faults.joined(separator: " "))
            return nil
        }
    }

    private mutating func refuse(_ draft: CalendarDraft, _ detail: String) {
        problems.append(CalendarProblem(line: draft.line, detail: detail, uid: draft.uid))
    }

    // MARK: Entries that are not in the file

    /// Cancels what vanished, unless so much vanished or was cancelled at once that the file is broken rather: then nothing
    /// is cancelled.
    private mutating func sweep(_ wish: Wish, _ situation: Situation) {
        let here = Set((wish.drafts ?? []).map(\.uid)).union(wish.problems.compactMap(\.uid))
        let told = cancel
        var vanished: [Cancellation] = []
        var future = told.count { situation.synced[$0.uid] == nil }
        for (uid, synced) in situation.synced.sorted(by: { $0.key < $1.key }) where !synced.isCancelled {
            let event = situation.events[synced.key]?.event
            let isToCome = event?.state == .scheduled
            if isToCome { future += 1 }
            guard wish.drafts == nil ? synced.isMissing : !here.contains(uid) else { continue }
            if let event, isToCome {
                vanished.append(Cancellation(uid: uid, event: event, reason: .vanished))
            } else if event?.state.isOver ?? true, wish.drafts != nil {
                // It will not come again, and what a calendar said of it is of no use any more.
                forgotten.append(uid)
            }
        }
        if !wish.cancelAll {
            if let finding = shrunken(told, vanished, future, situation) {
                shrinkage = Shrinkage(vanished: told.count + vanished.count, future: future)
                cancel = []
                return hold(told + vanished, finding, situation)
            }
            if !vanished.isEmpty, wish.drafts != nil, wish.problems.contains(where: { $0.uid == nil }) {
                return hold(
                    vanished,
                    Self.finding(0, vanished.count, future)
                        + ", and there are entries whose UID could not be read: none was cancelled. Correct them; "
                        + "{\"cancelAll\": true} cancels what vanished all the same.", situation)
            }
        }
        for cancellation in vanished {
            let key = cancellation.event.specification.key
            guard situation.reach.covers(eventOf: cancellation.event.specification.audiences.map(\.bundleID)) else {
                let detail = "The event \(key) vanished, and is another app's, too: it stays."
                problems.append(CalendarProblem(line: nil, detail: detail, uid: cancellation.uid))
                remember(missing: cancellation, situation)
                continue
            }
            cancel.append(cancellation)
            memory[cancellation.uid] = situation.synced[cancellation.uid]
            memory[cancellation.uid]?.isMissing = false
            memory[cancellation.uid]?.isCancelled = true
        }
    }

    /// Why the file is taken for broken: more than a third of what is to come goes at once, or what was held back for that
    /// would go still, however many entries came since.
    private func shrunken(
        _ told: [Cancellation], _ vanished: [Cancellation], _ future: Int, _ situation: Situation
    ) -> String? {
        let isMany = (told.count + vanished.count) * 3 > future
        let isHeldBack =
            situation.isShrunk && (told + vanished).contains { situation.synced[$0.uid]?.isMissing ?? false }
        guard isMany || isHeldBack else { return nil }
        let why = isMany ? ", more than a third" : "; of more than a third it began with"
        return "\(Self.finding(told.count, vanished.count, future))\(why): none was cancelled. Look at the file; "
            + "{\"cancelAll\": true} cancels them."
    }

    private static func finding(_ told: Int, _ vanished: Int, _ future: Int) -> String {
        let fate =
            switch (told, vanished) {
            case (0, _): "vanished from the calendar"
            case (_, 0): "are cancelled in the calendar"
            default: "vanished from the calendar or are cancelled in it"
            }
        return "\(told + vanished) of \(future) events to come \(fate)"
    }

    /// They are not cancelled; the next sync, or one without a file, knows of them.
    private mutating func hold(_ cancellations: [Cancellation], _ finding: String, _ situation: Situation) {
        problems.append(CalendarProblem(line: nil, detail: finding, uid: nil))
        for cancellation in cancellations { remember(missing: cancellation, situation) }
    }

    private mutating func remember(missing cancellation: Cancellation, _ situation: Situation) {
        let noted = memory[cancellation.uid]
        guard var synced = situation.synced[cancellation.uid] ?? noted, !synced.isMissing || noted != nil else {
            return
        }
        synced.isMissing = true
        synced.isCancelled = false
        memory[cancellation.uid] = synced
    }
}
