internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

extension Contract.Start {
    /// Reads the member `start` of an event's body.
    ///
    /// - Parameters:
    ///   - startsAt: the event's start time.
    ///   - audiences: the event's audiences.
    init(
        _ draft: Contract.StartDraft, startsAt: Date?, audiences: [Audience], _ faults: inout RequestFaults
    ) {
        let advice = "APNs starts an activity only with an alert that has a text."
        faults.requireText(of: draft.alert, at: "/start/alert", advice)
        faults.requireTexts(of: draft.alertsByLocale ?? [:], at: "/start/alertsByLocale", advice)
        if let from = draft.at ?? startsAt {
            if let until = draft.until, until <= from {
                faults.add("/start/until", "until is not after the time of the start, \(RFC3339.text(from)).")
            }
        } else {
            faults.add(
                "/start/at",
                "A start needs a time: give at in the start or startsAt in the event, or set start to null.")
        }
        for fault in draft.audiences?.faults(among: audiences.map(\.id), at: "/start/audiences") ?? [] {
            faults.add(fault.pointer, fault.detail)
        }
        let chosen = draft.audiences?.reduce(into: [AudienceSelector]()) { chosen, selector in
            if !chosen.contains(selector) { chosen.append(selector) }
        }
        self.init(
            at: draft.at, until: draft.until, attributesType: draft.attributesType, attributes: draft.attributes,
            contentState: draft.contentState, alert: draft.alert,
            alertsByLocale: (draft.alertsByLocale ?? [:]).isEmpty ? nil : draft.alertsByLocale,
            staleDate: draft.staleDate.map { Date(timeIntervalSince1970: Double($0.epoch)) },
            expiresIn: draft.expiresIn, audiences: chosen, restart: draft.restart ?? false)
    }
}
