/** `position 7`, or `positions 7 to 9`. */
export function positionsText({ first, last }: { readonly first: number; readonly last: number }): string {
  return first === last ? `position ${first}` : `positions ${first} to ${last}`;
}
