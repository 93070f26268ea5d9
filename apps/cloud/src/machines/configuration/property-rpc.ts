/** AppService for single values of a part's configuration. */
import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { asPlatformError, invalidArgument } from '@platform/base';
import type { AppService, ConfigPropertyChange } from '@platform/proto/platform/app/v1/app';
import type { CloudHandlers } from '../../access/principal.ts';
import type { MachineOperationDeps } from '../machines-deps.ts';
import { setProperty } from './set-property.ts';

const maxChanges = 1_000;

export function propertyHandlers({ access, configurations }: MachineOperationDeps): CloudHandlers<typeof AppService> {
  return {
    async setConfigProperty({ robotPartId: id, propertyChanges }, call) {
      access.authorize(call.principal, 'part.manage', id);
      if (propertyChanges.length === 0 || propertyChanges.length > maxChanges)
        throw invalidArgument(`property_changes: expected 1 to ${maxChanges} changes, found ${propertyChanges.length}`);
      const { version, document } = await configurations.current(id);
      const changed = JSON.parse(document) as JsonValue;
      const results = propertyChanges.map((change) => resultOf(changed, change));
      if (results.some(({ success }) => success)) {
        const action = 'AppService.SetConfigProperty';
        const text = JSON.stringify(changed, null, 2);
        // An edit made in between causes a conflict; it is not overwritten.
        const edited = { version };
        await configurations.save({ partId: id, document: text, by: call, action, unformatted: true, edited });
      }
      return { propertyChanges: results };
    },
  };
}

function resultOf(document: JsonValue, { path, value }: ConfigPropertyChange) {
  const told = { path, ...(value === undefined ? {} : { value }) };
  try {
    if (value === undefined || value.kind.case === undefined) throw invalidArgument('value: expected one, found none');
    setProperty(document, path, toJson(ValueSchema, value));
    return { ...told, success: true, error: '' };
  } catch (caught) {
    return { ...told, success: false, error: asPlatformError(caught).message };
  }
}
