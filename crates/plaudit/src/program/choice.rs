//! Enumerations that are read and written by name.

/// Defines an enumeration with its written values: `CHOICES` for reading one, `name` for writing it.
macro_rules! choices {
    (
        $(#[$documentation:meta])*
        pub enum $type:ident {
            $($(#[$meaning:meta])* $variant:ident $name:literal,)+
        }
    ) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type {
            $($(#[$meaning])* $variant,)+
        }

        impl $type {
            /// The written values.
            pub const CHOICES: &'static [(&'static str, Self)] = &[$(($name, Self::$variant)),+];

            /// The written value.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

pub(crate) use choices;
