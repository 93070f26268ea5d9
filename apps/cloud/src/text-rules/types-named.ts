/** API names that a caller may mean: clients give a type in full, or only its last part. */
export function typesNamed(type: string): readonly string[] {
  if (type === '') return [];
  return type.includes(':') ? [type] : [type, `core:component:${type}`, `core:service:${type}`];
}
