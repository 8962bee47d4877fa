internal import Grandstand

/// One calendar: what it says, how its last sync went, and a file to be looked at before it is applied.
struct CalendarPage: ConsolePage {
    var template: TemplateName { .calendar }
    let title: String
    let seasonHref: String
    let facts: [Fact]
    let mayFetch: Bool
    let declaration: String
    let previewAction: String
    let applyAction: String
    let deleteHref: String
    let accepts: String
    /// What was previewed; `nil`: nothing yet.
    let changes: CalendarChanges?
    /// The file again, so that what is applied is what was looked at; `nil`: it is fetched.
    let copy: String?
    let isFetched: Bool
    let cancelsAll: Bool
    let refusal: Refusal?

    init(
        _ calendar: FixtureCalendar, changes: CalendarChanges? = nil, file: [UInt8]? = nil, cancelsAll: Bool = false,
        refusal: APIProblem? = nil
    ) {
        title = "Calendar \(calendar.name)"
        seasonHref = ConsolePath.season
        let row = CalendarReading(calendar)
        facts =
            [
                Fact("From", .quoted(row.origin), .words("(\(row.format))")),
                Fact("Last sync", .moment(row.lastSyncAt), .words(row.lastSyncText)),
                Fact("Fetched again", .moment(calendar.nextRefreshAt)),
                Fact("Trouble", .quoted(calendar.failure ?? "")), Fact("Alarm", row.alarm),
            ].said
        mayFetch = calendar.declaration.url != nil
        declaration = ReadableJSON.text(calendar.declaration.source.text)
        previewAction = ConsolePath.calendar(calendar.name, "preview")
        applyAction = ConsolePath.calendar(calendar.name, "apply")
        deleteHref = ConsolePath.calendar(calendar.name, "delete")
        accepts = calendar.formatWord == "csv" ? ".csv,text/csv" : ".ics,text/calendar"
        self.changes = changes
        copy = file.map { Base64URL.text($0) }
        isFetched = changes != nil && file == nil
        self.cancelsAll = cancelsAll
        self.refusal = Refusal(refusal)
    }
}

/// Where a calendar is declared.
struct NewCalendar: ConsolePage {
    var template: TemplateName { .newCalendar }
    let title = "Declare a calendar"
    let seasonHref = ConsolePath.season
    let action = ConsolePath.calendars
    let name: String
    let declaration: String
    let refusal: Refusal?

    init(name: String = "", declaration: String? = nil, refusal: APIProblem? = nil) {
        self.name = name
        self.declaration = declaration ?? Self.example
        self.refusal = Refusal(refusal?.inWords)
    }

    private static let example = """
        {
          "format": "ics",
          "timeZone": "Europe/Vienna",
          "eventKey": "league:{uid}",
          "name": "{summary}",
          "defaultDuration": 7200,
          "audiences": [
            {"bundleId": "com.example.App", "environment": "production", "storagePolicy": "mostRecentMessageStored"}
          ]
        }
        """
}

/// Where an event is declared.
struct NewEvent: ConsolePage {
    var template: TemplateName { .newEvent }
    let title = "Declare an event"
    let seasonHref = ConsolePath.season
    let action = ConsolePath.newEvent
    let draft: EventForm
    let startsAtLocal: String
    let endsAtLocal: String
    let apps: [String]
    let refusal: Refusal?

    init(_ draft: EventForm, apps: [App], faults: [APIProblem.Fault] = [], refusal: APIProblem? = nil) {
        self.draft = draft
        startsAtLocal = FormTime.local(draft.startsAt)
        endsAtLocal = FormTime.local(draft.endsAt)
        self.apps = apps.map(\.bundleID.rawValue)
        self.refusal = Refusal(refusal?.inWords, faults)
    }
}
