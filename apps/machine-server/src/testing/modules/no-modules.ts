import type { Modules } from '../../modules/feature.ts';

/** A machine without modules. */
export const noModules: Modules = {
  apply: () => {},
  status: () => [],
  errors: () => '',
  restart: () => {},
  look: () => {},
  log: () => {},
  [Symbol.asyncDispose]: async () => {},
};
