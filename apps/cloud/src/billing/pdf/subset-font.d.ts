/** The part of subset-font that is used; the package has no types. */
declare module 'subset-font' {
  /** A font with only the characters of the text, in the given weight. */
  export default function subsetFont(
    font: Uint8Array,
    text: string,
    options: { readonly targetFormat: 'sfnt'; readonly variationAxes: Readonly<Record<string, number>> },
  ): Promise<Buffer>;
}
