/** The models that this version of the machine-server is built with, by API; a test of the machine-server keeps them in step. */
export const builtInModels: Readonly<Record<string, readonly string[]>> = {
  'core:component:sensor': ['core:builtin:fake', 'core:builtin:host-telemetry'],
  'core:service:data_manager': ['core:builtin:builtin'],
};

/** What is wrong with a built-in model that ours is not; undefined for known ones and for models of modules. */
export function modelFault(api: string, model: string): string | undefined {
  if (!model.startsWith('core:builtin:')) return undefined;
  const known = builtInModels[api] ?? [];
  if (known.includes(model)) return undefined;
  const expected =
    known.length === 0 ? `a model of a module (none of ${api} is built in)` : `one of ${known.join(', ')}`;
  return `expected ${expected}, found "${model}": this version of the machine-server cannot build it`;
}
