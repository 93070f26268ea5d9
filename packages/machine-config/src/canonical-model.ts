import { canonicalApi } from '@platform/base';

/** A model by its full name: one word means a built-in model (`fake` is `core:builtin:fake`). */
export function canonicalModel(model: string): string {
  return /^[\w-]+$/.test(model) ? `core:builtin:${model}` : canonicalApi(model);
}
