/** Tables of fragments: shared pieces of configuration, their versions and tags. */

// biome-ignore lint/suspicious/noEmptyInterface: filled by the feature.
export interface FragmentsTables {}

export const fragmentsV2: readonly string[] = [];
