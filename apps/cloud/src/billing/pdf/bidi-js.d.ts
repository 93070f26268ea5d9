/** The part of bidi-js that is used; the package has no types. */
declare module 'bidi-js' {
  export interface Bidi {
    /** One level for each UTF-16 unit; odd levels run right to left. */
    getEmbeddingLevels(
      text: string,
      direction?: 'ltr' | 'rtl',
    ): {
      readonly levels: Uint8Array;
      readonly paragraphs: readonly { readonly start: number; readonly end: number; readonly level: number }[];
    };
    getMirroredCharacter(character: string): string | null;
  }
  const create: () => Bidi;
  export default create;
}
