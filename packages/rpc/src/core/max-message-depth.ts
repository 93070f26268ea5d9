/**
 * Maximum nesting of messages, in requests to us and in answers we receive. A document needs three for each of its levels; readings may
 * have 100 levels. Later checks refuse anything deeper than its kind allows, by name.
 */
export const maxMessageDepth = 600;
