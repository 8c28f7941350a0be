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
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
        pub enum $type {
            $($(#[$meaning])* #[serde(rename = $name)] $variant,)+
        }

        impl $type {
            /// The written values.
            pub const CHOICES: &'static [(&'static str, Self)] = &[$(($name, Self::$variant)),+];

            /// The written values, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The one that is written so.
            pub fn named(name: &str) -> Option<Self> {
                Self::CHOICES.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice)
            }

            /// The written value.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl $crate::program::MemberValue for $type {
            const SHAPE: $crate::program::Shape = $crate::program::Shape::OneOf(|| $crate::program::names(Self::CHOICES));

            fn read(
                json: &kernel::json::Json,
                _: &$crate::program::Shape,
                _: &$crate::program::Context,
            ) -> Result<Self, kernel::input::Wrong<Self>> {
                Ok(kernel::input::one_of(Self::CHOICES)(json)?)
            }

            fn write(
                &self,
                member: &$crate::program::Member,
                object: &mut kernel::document::Object<'_>,
                _: $crate::program::Texts,
            ) {
                object.text(member.name, self.name());
            }
        }

        impl $crate::program::Item for $type {}

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}

pub(crate) use choices;
