// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Stand-in; see README.md. The part of Apple's WidgetKit that the example uses.
public import ActivityKit
public import SwiftUI

@available(iOS 14, *)
@MainActor
public protocol WidgetConfiguration {}

@available(iOS 14, *)
@MainActor
public protocol Widget {
    associatedtype Body: WidgetConfiguration
    var body: Body { get }
    init()
}

@available(iOS 14, *)
@MainActor
public protocol WidgetBundle {
    associatedtype Body: Widget
    @WidgetBundleBuilder var body: Body { get }
    init()
}

@available(iOS 14, *)
extension WidgetBundle {
    public static func main() { fatalError() }
}

@available(iOS 14, *)
@resultBuilder
public enum WidgetBundleBuilder {
    public static func buildBlock<Content: Widget>(_ content: Content) -> Content { content }
}

@available(iOS 16.1, *)
public struct ActivityViewContext<Attributes: ActivityAttributes> {
    public let state: Attributes.ContentState
    public let attributes: Attributes
    @available(iOS 16.2, *)
    public var isStale: Bool { fatalError() }
}

@available(iOS 16.1, *)
public struct ActivityConfiguration<Attributes: ActivityAttributes>: WidgetConfiguration {
    public init(
        for attributesType: Attributes.Type,
        @ViewBuilder content: @escaping (ActivityViewContext<Attributes>) -> some View,
        dynamicIsland: @escaping (ActivityViewContext<Attributes>) -> DynamicIsland
    ) { fatalError() }
}

@available(iOS 16.1, *)
public struct DynamicIslandExpandedRegionPosition: Sendable {
    public static let leading = Self()
    public static let trailing = Self()
    public static let center = Self()
    public static let bottom = Self()
}

@available(iOS 16.1, *)
public struct DynamicIslandExpandedRegion {
    public init(
        _ position: DynamicIslandExpandedRegionPosition, priority: Double = 0, @ViewBuilder content: () -> some View
    ) { fatalError() }
}

@available(iOS 16.1, *)
@resultBuilder
public enum DynamicIslandExpandedContentBuilder {
    public static func buildBlock(_ regions: DynamicIslandExpandedRegion...) -> [DynamicIslandExpandedRegion] {
        regions
    }
}

@available(iOS 16.1, *)
public struct DynamicIsland {
    public init(
        @DynamicIslandExpandedContentBuilder expanded: @escaping () -> [DynamicIslandExpandedRegion],
        @ViewBuilder compactLeading: @escaping () -> some View, @ViewBuilder compactTrailing: @escaping () -> some View,
        @ViewBuilder minimal: @escaping () -> some View
    ) { fatalError() }
}

@available(iOS 16.1, *)
extension View {
    public func activityBackgroundTint(_ color: Color?) -> Stub { fatalError() }
    public func activitySystemActionForegroundColor(_ color: Color?) -> Stub { fatalError() }
}
