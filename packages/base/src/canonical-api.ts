const publicNamespace = /^rdk(?=:)/;

/** `rdk:component:sensor` → `core:component:sensor` (D2); resource names (`rdk:component:sensor/s1`) and models alike. Any other text passes unchanged. */
export function canonicalApi(api: string): string {
  return api.replace(publicNamespace, 'core');
}
