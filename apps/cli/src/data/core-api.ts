/** An API as the cloud spells it to us: configurations may say `rdk:component:sensor`, too. */
export function coreApi(text: string): string {
  return text.replace(/^rdk:/, 'core:');
}
