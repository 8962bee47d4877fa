internal import HTTPTypes

extension HTTPFields {
    /// The field's value; several values are joined, as by the subscript. This is faster than the subscript if there is
    /// one field.
    func value(of name: HTTPField.Name) -> String? {
        guard let index = firstIndex(where: { $0.name == name }) else { return nil }
        return self[(index + 1)...].contains { $0.name == name } ? self[name] : self[index].value
    }
}
