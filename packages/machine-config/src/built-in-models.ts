/** The built-in models of this version of the machine-server, by API; a test of the machine-server keeps them in step. */
export const builtInModels: Readonly<Record<string, readonly string[]>> = {
  'core:component:sensor': ['core:builtin:fake', 'core:builtin:host-telemetry'],
  'core:service:data_manager': ['core:builtin:builtin'],
};

/** What to report about a built-in model that our machine-server lacks; undefined for known ones and for models of modules. */
export function modelFault(api: string, model: string): string | undefined {
  if (!model.startsWith('core:builtin:')) return undefined;
  const known = builtInModels[api] ?? [];
  if (known.includes(model)) return undefined;
  const has = known.length === 0 ? `none of ${api}` : known.join(', ');
  return `the machine-server of this platform has no model "${model}", but ${has}; another machine server may have it`;
}
