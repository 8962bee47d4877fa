import ActivityKit
import SwiftUI
import WidgetKit

struct MatchActivity: Widget {
    var body: some WidgetConfiguration {
        ActivityConfiguration(for: MatchAttributes.self) { context in
            LockScreenCard(match: context.attributes, score: context.state, isStale: context.isStale)
                .activityBackgroundTint(.black.opacity(0.6))
                .activitySystemActionForegroundColor(.white)
        } dynamicIsland: { context in
            DynamicIsland {
                DynamicIslandExpandedRegion(.leading) { Text(context.attributes.home).lineLimit(1) }
                DynamicIslandExpandedRegion(.trailing) { Text(context.attributes.away).lineLimit(1) }
                DynamicIslandExpandedRegion(.center) { ScoreText(score: context.state) }
                DynamicIslandExpandedRegion(.bottom) { Text(context.state.headline ?? context.state.clock) }
            } compactLeading: {
                Text(context.attributes.home.prefix(3).uppercased())
            } compactTrailing: {
                ScoreText(score: context.state)
            } minimal: {
                ScoreText(score: context.state)
            }
        }
    }
}

/// The activity on the lock screen. If the score is out of date, the view says so.
struct LockScreenCard: View {
    let match: MatchAttributes
    let score: MatchScore
    let isStale: Bool

    var body: some View {
        VStack(spacing: 6) {
            HStack {
                Text(match.home).font(.headline).lineLimit(1)
                Spacer()
                Text(score.text).font(.largeTitle.bold().monospacedDigit())
                Spacer()
                Text(match.away).font(.headline).lineLimit(1)
            }
            if isStale {
                Text("Waiting for news").font(.caption).foregroundStyle(.secondary)
            } else {
                Text([score.clock, score.headline ?? ""].filter { !$0.isEmpty }.joined(separator: " · "))
                    .font(.caption)
            }
        }
        .padding(16)
        .accessibilityLabel(score.spoken(home: match.home, away: match.away))
    }
}

struct ScoreText: View {
    let score: MatchScore

    var body: some View { Text(score.text).font(.headline.monospacedDigit()) }
}
