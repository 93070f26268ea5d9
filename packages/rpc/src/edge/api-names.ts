/** The compatibility edge (D2): public clients call `/viam.…` and spell API names `rdk:…`; everything inside is `/platform.…` and `core:…`. */

/** How a peer spells the namespace of built-in APIs and models. */
export type Vocabulary = 'core' | 'rdk';

const canonicalPrefix = /^rdk(?=:)/;
const corePrefix = /^core(?=:)/;

/** `rdk:component:sensor` → `core:component:sensor`; resource names (`rdk:component:sensor/s1`) and models alike. Any other text passes unchanged. */
export function canonicalApi(api: string): string {
  return api.replace(canonicalPrefix, 'core');
}

/** `core:component:sensor` as a peer of that vocabulary spells it. Any other text passes unchanged. */
export function apiIn(vocabulary: Vocabulary, api: string): string {
  return vocabulary === 'rdk' ? api.replace(corePrefix, 'rdk') : canonicalApi(api);
}
