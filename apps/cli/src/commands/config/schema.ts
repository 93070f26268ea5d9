/** `platform config schema`. */
import { Command } from 'commander';
import { localLeaf } from '../../invocation/leaf.ts';

export function schemaCommand(): Command {
  return localLeaf(
    new Command('schema').description('print the JSON Schema of configurations, for editors'),
    { examples: ['platform config schema > machine-config.schema.json'] },
    async ({ out }) => {
      const { machineConfigJsonSchema } = await import('@platform/machine-config/schema');
      out.raw(JSON.stringify(machineConfigJsonSchema, null, 2));
    },
  );
}
