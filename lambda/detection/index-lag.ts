/** An index follows its table within seconds; after trouble it gets this long. */
export const indexLagMinutes = 10;
