import SwiftUI
import WidgetKit

@main
struct StadiumWidgets: WidgetBundle {
    var body: some Widget { MatchActivity() }
}
