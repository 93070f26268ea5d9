/** The part of subset-font that is used: it has no types of its own. */
declare module 'subset-font' {
  /** A font with only what the text needs, of the given weight. */
  export default function subsetFont(
    font: Uint8Array,
    text: string,
    options: { readonly targetFormat: 'sfnt'; readonly variationAxes: Readonly<Record<string, number>> },
  ): Promise<Buffer>;
}
