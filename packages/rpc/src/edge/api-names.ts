/** The compatibility edge (D2): public clients call `/viam.…` and spell API names `rdk:…`; all our code uses `/platform.…` and `core:…`. */

import { canonicalApi } from '@platform/base/portable';

/** How a peer spells the namespace of built-in APIs and models. */
export type Vocabulary = 'core' | 'rdk';

/** The vocabulary that a request asks for in the header `platform-vocabulary`; undefined if it names none (D47). */
export function vocabularyAsked(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Vocabulary | undefined {
  const asked = headers['platform-vocabulary'];
  return asked === 'rdk' || asked === 'core' ? asked : undefined;
}

const corePrefix = /^core(?=:)/;

/** `core:component:sensor` as a peer of that vocabulary spells it. Any other text passes unchanged. */
export function apiIn(vocabulary: Vocabulary, api: string): string {
  return vocabulary === 'rdk' ? api.replace(corePrefix, 'rdk') : canonicalApi(api);
}
