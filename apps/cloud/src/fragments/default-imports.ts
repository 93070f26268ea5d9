import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { FragmentImportListSchema } from '@platform/proto/platform/app/v1/app';

/** An organization's default fragments as entries of `fragments`. @param list JSON of a FragmentImportList; null: none */
export function defaultImports(list: string | null): readonly Record<string, JsonValue>[] {
  if (list === null) return [];
  const { fragments } = fromJson(FragmentImportListSchema, JSON.parse(list) as JsonValue);
  return fragments.map(({ fragmentId, version, prefix = '', variables, fragmentVariables = {} }) => {
    // Older clients support only variables that are strings.
    const given = { ...variables, ...fragmentVariables };
    return {
      id: fragmentId,
      ...(version === '' ? {} : { version }),
      ...(prefix === '' ? {} : { prefix }),
      ...(Object.keys(given).length === 0 ? {} : { variables: given }),
    };
  });
}
