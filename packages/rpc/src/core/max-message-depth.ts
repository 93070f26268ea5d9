/**
 * Messages inside one another, in what is sent to us and what we are answered. A document needs three for each of its levels, of which
 * readings may have 100, and stored ones of earlier versions 180; what is deeper than its kind allows is refused by name behind this.
 */
export const maxMessageDepth = 600;
