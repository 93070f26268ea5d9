import { builtInModels } from '@platform/machine-config/built-in-models';

/** Whether a type has the model `core:builtin:fake`; a few have only real models. */
export function hasFake(api: string): boolean {
  return builtInModels[api]?.includes('core:builtin:fake') === true;
}
