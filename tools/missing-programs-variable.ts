/** Environment variable with a JSON object: for each test file that cannot run on this computer, why. Absent: none. */
export const missingProgramsVariable = 'PLATFORM_MISSING_PROGRAMS';
