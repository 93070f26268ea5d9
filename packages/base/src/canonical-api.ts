const publicNamespace = /^rdk(?=:)/;

/**
 * `rdk:component:sensor` → `core:component:sensor` (D2). Also accepts resource names (`rdk:component:sensor/s1`) and models. Any other text
 * passes unchanged.
 */
export function canonicalApi(api: string): string {
  return api.replace(publicNamespace, 'core');
}
