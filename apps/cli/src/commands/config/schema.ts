/** `platform config schema`. */
import type { JsonObject } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { defineLocalCommand } from '../../invocation/define-command.ts';

export function schemaCommand(): Command {
  return defineLocalCommand(
    new Command('schema').description('print the JSON Schema of configurations, for use in editors'),
    { examples: ['platform config schema > machine-config.schema.json'], fields: ['the keywords of JSON Schema'] },
    async ({ out }) => {
      const { machineConfigJsonSchema } = await import('@platform/machine-config/schema');
      out.document(machineConfigJsonSchema as JsonObject);
    },
  );
}
