/** An API name as the cloud sends it to us: configurations may also use `rdk:component:sensor`. */
export function coreApi(text: string): string {
  return text.replace(/^rdk:/, 'core:');
}
