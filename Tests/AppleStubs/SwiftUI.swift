// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Stand-in; see README.md. The part of Apple's SwiftUI that the example uses.

@MainActor
public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { return fatalError() }
}

extension Optional: View where Wrapped: View {
    public var body: Never { return fatalError() }
}

public protocol StubView: View where Body == Never {}

extension StubView {
    public var body: Never { return fatalError() }
}

/// The result of a modifier or a container.
public struct Stub: StubView {}

@resultBuilder
public enum ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Stub { fatalError() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { fatalError() }
    public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> {
        fatalError()
    }
}

/// Either of two views.
public struct Either<First: View, Second: View>: StubView {}

@available(iOS 14, *)
@MainActor
public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

@available(iOS 14, *)
extension App {
    public static func main() { fatalError() }
}

@available(iOS 14, *)
@MainActor
public protocol Scene {}

@available(iOS 14, *)
@resultBuilder
public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

@available(iOS 14, *)
public struct WindowGroup: Scene {
    public init(@ViewBuilder content: () -> some View) { fatalError() }
}

public struct HorizontalAlignment: Sendable {
    public static let leading = Self()
    public static let center = Self()
}

public struct VStack: StubView {
    public init(
        alignment: HorizontalAlignment = .center, spacing: Double? = nil, @ViewBuilder content: () -> some View
    ) { fatalError() }
}

public struct HStack: StubView {
    public init(spacing: Double? = nil, @ViewBuilder content: () -> some View) { fatalError() }
}

public struct List: StubView {
    public init(@ViewBuilder content: () -> some View) { fatalError() }
}

public struct Section: StubView {
    @available(iOS 15, *)
    public init(_ title: String, @ViewBuilder content: () -> some View) { fatalError() }
}

public struct ForEach: StubView {
    public init<Data: RandomAccessCollection>(
        _ data: Data, @ViewBuilder content: @escaping (Data.Element) -> some View
    ) where Data.Element: Identifiable { fatalError() }
}

@available(iOS 16, *)
public struct NavigationStack: StubView {
    public init(@ViewBuilder root: () -> some View) { fatalError() }
}

public struct Spacer: StubView {
    public init() {}
}

public struct Text: StubView {
    public init(_ text: some StringProtocol) { fatalError() }
}

public struct Button: StubView {
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) { fatalError() }
}

public struct Toggle: StubView {
    public init(_ title: some StringProtocol, isOn: Binding<Bool>) { fatalError() }
}

@propertyWrapper
public struct Binding<Value> {
    public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
}

@MainActor
@propertyWrapper
public struct State<Value> {
    public init(wrappedValue: Value) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
}

public struct Font: Sendable {
    public static let headline = Self()
    public static let caption = Self()
    public static let largeTitle = Self()
    public func bold() -> Font { fatalError() }
    public func monospacedDigit() -> Font { fatalError() }
}

public struct Color: Sendable {
    public static let black = Self()
    public static let white = Self()
    public static let secondary = Self()
    public func opacity(_ opacity: Double) -> Color { fatalError() }
}

extension View {
    public func font(_ font: Font?) -> Stub { fatalError() }
    @available(iOS 15, *)
    public func foregroundStyle(_ color: Color) -> Stub { fatalError() }
    public func padding(_ length: Double? = nil) -> Stub { fatalError() }
    @available(iOS 14, *)
    public func navigationTitle(_ title: some StringProtocol) -> Stub { fatalError() }
    @available(iOS 15, *)
    public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> Stub { fatalError() }
    public func disabled(_ isDisabled: Bool) -> Stub { fatalError() }
    @available(iOS 14, *)
    public func accessibilityLabel(_ label: some StringProtocol) -> Stub { fatalError() }
    public func lineLimit(_ number: Int?) -> Stub { fatalError() }
}
