/**
 * Ends the refusal of an API key by a machine, or by the cloud on its behalf, with the command that makes one that is not refused.
 *
 * @param why without its object, as in `This API key does not reach`
 */
export function machineKeyAdvice(why: string, role: 'owner' | 'operator'): string {
  return `${why} the machine; an owner makes one that does: platform api-keys create NAME --role ${role} --machine MACHINE`;
}
