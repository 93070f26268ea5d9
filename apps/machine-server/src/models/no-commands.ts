/** The `doCommand` of a model that has none. @param text of the error, which is unimplemented */
export function noCommands(text: string): () => Promise<never> {
  return async () => {
    throw unimplemented(text);
  };
}

import { unimplemented } from '@platform/base';
